import type { MikroORM } from '@mikro-orm/core'
import { JWTKeys } from '#auth/jwt'
import { AuditTrail } from './account/activity/audit-trail.ts'
import { Devices } from './account/devices/devices.ts'
import { siteUses } from './account/last-uses.ts'
import { noticeMails } from './account/notify.ts'
import { PasswordCheck } from './account/password-check.ts'
import { addressMails } from './account/pending-address.ts'
import { PendingSignIns } from './account/second-factor/pending-sign-ins.ts'
import { SecretBox } from './account/second-factor/secret-box.ts'
import type { Services } from './account/services.ts'
import { SessionStore } from './account/sessions/session-store.ts'
import type { Config } from './config/config.ts'
import { resetMails } from './features/reset-password/reset-link.ts'
import { verifyMails } from './features/verify-email/verify-email.ts'
import type { Logger } from './log/log.ts'
import type { MailKinds } from './mail/mail-sender.ts'
import { createOutbox } from './mail/outbox.ts'
import { HostCookie } from './site/host-cookie.ts'
import { Throttle } from './throttle/throttle.ts'

/** All kinds of mail. */
export const mails: MailKinds = { ...resetMails, ...verifyMails, ...addressMails, ...noticeMails }

/** Builds the services of the site. The caller closes `uses`, and starts and stops the outbox. */
export function createServices(orm: MikroORM, config: Config, log: Logger): Services {
  const { secureCookies: isTls, production, siteName, publicUrl } = config
  const secretBox = config.secretsKeys && new SecretBox(config.secretsKeys)
  const uses = siteUses(orm, log)
  const [throttle, devices] = [new Throttle(orm), new Devices(orm, { isTls })]
  const hint = production ? undefined : 'Set THROTTLE=off to disable rate limits.'
  const guessing = config.throttle ? { throttle, devices, hint } : undefined
  return {
    passwords: new PasswordCheck(guessing),
    sessions: new SessionStore(orm, uses.sessions),
    devices,
    throttle,
    trail: new AuditTrail(orm, log),
    uses,
    pendingSignIns: new PendingSignIns({ isTls }),
    keys: new JWTKeys({ ...config.jwtKeys, issuer: config.jwtIssuer, audience: config.jwtIssuer }),
    guessing,
    outbox: createOutbox(orm, config, { kinds: mails, log }),
    secretBox,
    passkeys: secretBox && {
      key: secretBox.deriveKey('passkey challenges'),
      rpId: config.rpId,
      cookie: new HostCookie('passkey', { isTls }),
    },
    siteName,
    publicOrigin: publicUrl?.origin,
    isTls,
  }
}
