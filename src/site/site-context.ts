import type Router from '@koa/router'
import type { EntityManager } from '@mikro-orm/core'
import type { ExtendableContext } from 'koa'
import type { PasskeySettings } from '../account/passkeys/relying-party.ts'
import type { SecretBox } from '../account/second-factor/secret-box.ts'
import type { Outbox } from '../mail/outbox.ts'
import type { Throttle } from '../throttle/throttle.ts'
import type { CheckedContext } from '../users/check-credentials.ts'
import type { SecondFactorContext, User } from '../users/user.ts'
import type { NotedEvent } from './audit-event.ts'

/** Recognises the devices that users have signed in from. */
export interface DeviceStore {
  deviceOf(ctx: ExtendableContext, email: string): Promise<string | undefined>
  store(ctx: ExtendableContext, user: User, onNew?: OnNewDevice): Promise<void>
  storeNetwork(ctx: ExtendableContext, user: User, onNew: OnNewDevice): Promise<void>
}

/** Called in the transaction that adds a new device or network to an account. */
export type OnNewDevice = (em: EntityManager) => Promise<void>

/** The limits on guessing passwords. */
export interface Guessing {
  readonly throttle: Throttle
  readonly devices: DeviceStore
  /** A hint that the log adds to a throttled attempt. */
  readonly hint?: string | undefined
}

/** The router that a feature adds its routes to. */
export type SiteRouter = Router<object, SiteContext>

/** The context of the site's routes. */
export interface SiteContext extends CheckedContext, SecondFactorContext {
  /** `undefined` with `THROTTLE=off`. */
  readonly guessing?: Guessing | undefined
  /** `undefined` if the site sends no mail. */
  readonly outbox?: Outbox | undefined
  /** `undefined` in production without `SECRETS_KEY`. Users cannot turn on a second factor then. */
  readonly secretBox?: SecretBox | undefined
  /** `undefined` in production without `SECRETS_KEY`. The site then has no passkeys. */
  readonly passkeys?: PasskeySettings | undefined
  readonly siteName: string
  /** The origin of `PUBLIC_URL`. */
  readonly publicOrigin?: string | undefined
  session: {
    maxAge: number
    /** The identifier in the cookie. */
    readonly externalKey: string
    /** A message for the next page that calls `takeNotice`. */
    notice?: string | undefined
  }
  state: Record<string, unknown> & {
    events?: NotedEvent[]
    request?: string
    /** The start of the request, as by `performance.now()`. */
    start: number
    /** The methods of a sign-in by password and code (RFC 8176). Otherwise `undefined`. */
    methods?: readonly string[]
    /** Whether the new session replaces the session of this request. If the old session has ended, no new session starts. */
    replacesSession?: boolean
  }
  render(view: string, locals: object): Promise<void>
}
