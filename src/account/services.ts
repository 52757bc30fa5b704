import type { MikroORM } from '@mikro-orm/core'
import { JWTKeys } from '#auth/jwt'
import { LastUses } from '#auth/mikro-orm'
import type { Config } from '../config/config.ts'
import { type Logger, loggable } from '../log/log.ts'
import { mailFolder } from '../mail/mail-folder.ts'
import type { MailKinds } from '../mail/mail-kinds.ts'
import { MailTemplates } from '../mail/mail-templates.ts'
import { Outbox } from '../mail/outbox.ts'
import { smtp } from '../mail/smtp.ts'
import { HostCookie } from '../site/host-cookie.ts'
import { Throttle } from '../throttle/throttle.ts'
import { UserToken } from '../users/user-token.ts'
import { AuditTrail } from './activity/audit-trail.ts'
import { Devices } from './devices/devices.ts'
import { PendingSignIns } from './second-factor/pending-sign-ins.ts'
import { SecretBox } from './second-factor/secret-box.ts'
import { SessionStore } from './sessions/session-store.ts'
import { StoredSession } from './sessions/stored-session.ts'

/** What the features share. It is built once for a process, and passed to the functions that need it. */
export type Services = ReturnType<typeof createServices>

/** Builds the services of the site. The caller writes `uses` at the end, and starts and stops the outbox. */
export function createServices(orm: MikroORM, config: Config, log: Logger, kinds: MailKinds) {
  const { secureCookies: isTls, production, siteName, publicUrl } = config
  const secretBox = config.secretsKeys && new SecretBox(config.secretsKeys)
  const [throttle, devices] = [new Throttle(orm), new Devices(orm, { isTls })]
  const hint = production ? undefined : 'Set THROTTLE=off to disable rate limits.'
  // `LastUses` reports only the first of several failed writes.
  const onError = (error: unknown) => log.warn(loggable(error), 'last uses cannot be saved')
  const uses = {
    sessions: new LastUses(orm, StoredSession, 'seenAt', { onError }),
    tokens: new LastUses(orm, UserToken, 'lastUsedAt', { onError }),
  }
  return {
    sessions: new SessionStore(orm, uses.sessions),
    devices,
    throttle,
    trail: new AuditTrail(orm, log),
    /** The last use of each session and token. */
    uses,
    pendingSignIns: new PendingSignIns({ isTls }),
    keys: new JWTKeys({ ...config.jwtKeys, issuer: config.jwtIssuer, audience: config.jwtIssuer }),
    /** The limits on guessing. `undefined` with `THROTTLE=off`. The log of a throttled attempt has the hint. */
    guessing: config.throttle ? { throttle, devices, hint } : undefined,
    /** `undefined` if the site sends no mail. */
    outbox: createOutbox(orm, config, log, kinds),
    /** `undefined` in production without `SECRETS_KEY`. Users cannot turn on a second factor then. */
    secretBox,
    /** `undefined` in production without `SECRETS_KEY`. The site then has no passkeys. */
    passkeys: secretBox && {
      key: secretBox.deriveKey('passkey challenges'),
      // Without `PUBLIC_URL`, the host of the request replaces it. It is also missing if browsers support no passkeys at `PUBLIC_URL`.
      rpId: config.rpId,
      /** Binds the challenge of a sign-in to the browser. */
      cookie: new HostCookie('passkey', { isTls }),
    },
    /** The ids of the identity providers. An account at another provider cannot sign in. */
    providers: config.providers.map(({ id }) => id),
    siteName,
    /** The origin of `PUBLIC_URL`. */
    publicOrigin: publicUrl?.origin,
    /** Whether cookies are for TLS only. */
    isTls,
  }
}

function createOutbox(orm: MikroORM, config: Config, log: Logger, kinds: MailKinds): Outbox | undefined {
  if (!config.mail) return undefined
  const { from, server, folder } = config.mail
  const logsLinks = config.profile === 'development'
  const deliver = server ? smtp(server, from) : mailFolder(folder, from, { logsLinks })
  return new Outbox(orm, { kinds, deliver, templates: new MailTemplates(config), log })
}
