import type { MikroORM } from '@mikro-orm/core'
import type Koa from 'koa'
import { Devices } from './account/devices/devices.ts'
import { KnownDevices } from './account/devices/known-devices.ts'
import { credentialCheck } from './account/limits.ts'
import { SecretBox } from './account/second-factor/secret-box.ts'
import { secondFactorCheck } from './account/second-factor/verify-code.ts'
import type { Config } from './config/config.ts'
import type { Outbox } from './mail/outbox.ts'
import { HostCookie } from './site/host-cookie.ts'
import type { SiteContext } from './site/site-context.ts'
import type { Throttle } from './throttle/throttle.ts'

interface Parts {
  readonly orm: MikroORM
  readonly config: Config
  readonly outbox: Outbox | undefined
  readonly throttle: Throttle
}

/** Adds the services of the site to the context of every request. */
export function setServices({ context }: Koa, { orm, config, outbox, throttle }: Parts): void {
  const secretBox = config.secretsKeys && new SecretBox(config.secretsKeys)
  const services = {
    credentialCheck,
    secondFactorCheck,
    secretBox,
    passkeys: passkeysOf(config, secretBox),
    outbox,
    siteName: config.siteName,
    publicOrigin: config.publicUrl?.origin,
    guessing: guessingOf(orm, config, throttle),
  } satisfies Partial<SiteContext>
  Object.assign(context, services)
}

function passkeysOf({ rpId, secureCookies: isTls }: Config, secretBox: SecretBox | undefined) {
  const cookie = new HostCookie('passkey', { isTls })
  return secretBox && { key: secretBox.deriveKey('passkey challenges'), rpId, cookie }
}

function guessingOf(
  orm: MikroORM,
  { secureCookies: isTls, production, ...config }: Config,
  throttle: Throttle,
) {
  if (!config.throttle) return undefined
  const devices = new KnownDevices(new Devices(orm), { isTls })
  const hint = production ? undefined : 'Set THROTTLE=off to disable rate limits.'
  return { throttle, devices, hint }
}
