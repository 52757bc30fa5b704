import type Router from '@koa/router'
import type { AuthContext } from '#auth'
import type { NotedEvent } from './audit.ts'

declare module 'koa' {
  interface ExtendableContext {
    /** The events that the request has caused so far (`audit`). */
    events?: NotedEvent[]
    /** Identifies the request in the log. */
    requestId?: string
    /** The start of the request, as by `performance.now()`. */
    startedAt?: number
    /** Whether the client uses TLS, to this server or to a trusted proxy. */
    isOverTls?: boolean
    /** Whether the peer of the connection is a trusted proxy. */
    isFromProxy?: boolean
  }
}

/** The router that a feature adds its routes to. */
export type SiteRouter = Router<object, SiteContext>

/** The context of the site's routes. */
export interface SiteContext extends AuthContext {
  session: {
    maxAge: number
    /** The identifier in the cookie. */
    readonly externalKey: string
    /** A message for the next page that calls `takeNotice`. */
    notice?: string | undefined
    /** Whether the profile page offers a passkey once, after a sign-in with the password. */
    offersPasskey?: boolean
  }
  render(view: string, locals: object): Promise<void>
}
