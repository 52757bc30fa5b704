import type { AuthContext } from './auth.ts'
import { Misuse } from './errors.ts'

/** What an application keeps in a session. */
export type SessionData = Record<string, unknown>

/** koa-session's session. */
export type Session = SessionData & { regenerate?: unknown; toJSON?: unknown }

/** The context, once a session middleware has been there. */
export type SessionContext = AuthContext & { session?: Session | null }

/** The session of a request; one that was ended in it begins anew. Throws where no session middleware stands before. */
export function sessionOf(ctx: SessionContext): Session {
  if (ctx.session) return ctx.session
  if (ctx.session === undefined) {
    throw new Misuse(
      'Add a session middleware before the session authenticator, such as `app.use(session(app))`.',
    )
  }
  // A handler ended the session in this request, and somebody logged in all the same: a new one.
  ctx.session = {}
  return ctx.session
}

/** What the application keeps in the session, without koa-session's own fields. */
export function dataOf(session: Session): SessionData {
  const data = typeof session.toJSON === 'function' ? session.toJSON() : { ...session }
  return data ?? {}
}
