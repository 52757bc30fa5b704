import type { Context } from 'koa'
import type { Throttle } from '../throttle/throttle.ts'
import type { CheckedContext } from '../users/check-credentials.ts'
import type { User } from '../users/user.ts'
import type { NotedEvent } from './audit-event.ts'

/** Recognises the devices that users have signed in from. */
export interface DeviceMemory {
  deviceOf(ctx: Pick<Context, 'cookies'>, email: string): Promise<string | undefined>
  remember(ctx: Context, user: User): Promise<void>
}

/** The limits on guessing. */
export interface Guessing {
  readonly throttle: Throttle
  readonly devices: DeviceMemory
}

/** The context of the site's routes. */
export interface SiteContext extends CheckedContext {
  /** The limits on guessing; none with `THROTTLE=off`. */
  readonly guessing?: Guessing | undefined
  session: {
    maxAge: number
    /** The identifier in the cookie. */
    readonly externalKey: string
    /** What the next page of the account has to say. */
    notice?: string | undefined
  }
  state: Record<string, unknown> & { events?: NotedEvent[] }
  render(view: string, locals: object): Promise<void>
}
