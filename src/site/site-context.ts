import type { NotedEvent } from '../features/activity/trail.ts'
import type { KnownDevices } from '../features/known-devices/known-devices.ts'
import type { Throttle } from '../throttle/throttle.ts'
import type { CheckedContext } from '../users/credential-check.ts'

/** The limits on guessing. */
export interface Guessing {
  readonly throttle: Throttle
  readonly devices: KnownDevices
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
  // What every page is told, and what koa-views adds.
  state: Record<string, unknown> & { events?: NotedEvent[] }
  render(view: string, locals: object): Promise<void>
}
