import type { AuthContext } from './auth.ts'
import { type Authentication, fromRecord } from './authentication.ts'
import type { Class } from './checks.ts'
import { Misuse } from './errors.ts'

/** The data that an application keeps in a session. */
export type SessionData = Record<string, unknown>

/** The session object of koa-session. */
export type Session = SessionData & { regenerate?: unknown; toJSON?: unknown }

/** The context of a request after a session middleware. */
export type SessionContext = AuthContext & {
  session?: Session | null
}

const recordSuffix = ':authenticated'

/** Throws `Misuse` for a key that cannot hold a user in koa-session. */
export function checkKey(key: string): void {
  // koa-session drops keys that begin with an underscore.
  const isKept = typeof key === 'string' && key !== '' && !key.startsWith('_')
  if (isKept && !(key in Object.prototype) && !key.endsWith(recordSuffix)) return
  throw new Misuse(
    `koa-session cannot keep a user as "${String(key)}". Give the session authenticator another \`key\`.`,
  )
}

/** The session of a request. Starts a new one if it has ended. Throws `Misuse` if the session middleware is missing. */
export function sessionOf(ctx: SessionContext): Session {
  if (ctx.session) return ctx.session
  if (ctx.session === undefined) {
    throw new Misuse(
      'Add a session middleware before the session authenticator, such as `app.use(session(app))`.',
    )
  }
  ctx.session = {}
  return ctx.session
}

/** The data in the session, without the fields of koa-session. */
export function dataOf(session: Session): SessionData {
  return typeof session.toJSON === 'function' ? session.toJSON() : { ...session }
}

/** When and how the user under that key authenticated. `undefined` if the session has no valid record. */
export function recordOf({ session }: SessionContext, key: string): Authentication | undefined {
  return fromRecord(session?.[key + recordSuffix])
}

/**
 * Saves a user and the record of the authentication under a new session identifier, against session fixation. Throws `Misuse`
 * without `regenerate()`.
 */
export async function save(
  ctx: SessionContext,
  { key, user }: { readonly key: string; readonly user: Class },
  id: string,
): Promise<void> {
  const session = sessionOf(ctx)
  if (typeof session.regenerate !== 'function')
    throw new Misuse('The session cannot change its identifier. Use koa-session, which has `regenerate()`.')
  const { at, methods } = ctx.auth.authentication(user) ?? {}
  session[key] = id
  if (at) session[key + recordSuffix] = { at: at.getTime(), methods }
  else delete session[key + recordSuffix]
  const { maxAge } = session
  await session.regenerate()
  // `regenerate()` loses this setting.
  if (maxAge === 'session') session.maxAge = maxAge
}

/** Removes the data from before a sign-in, except the identifiers and records of authenticated users. */
export function clear({ session }: SessionContext, before: SessionData, keysInUse: readonly string[]): void {
  if (!session) return
  const kept = new Set(keysInUse.flatMap((key) => [key, key + recordSuffix]))
  for (const [key, value] of Object.entries(dataOf(session)))
    if (value === before[key] && !kept.has(key)) delete session[key]
}

/** Removes a user, and ends the session if no authenticated user is left in it. */
export function remove(ctx: SessionContext, key: string, keysInUse: readonly string[]): void {
  if (!ctx.session) return
  delete ctx.session[key]
  delete ctx.session[key + recordSuffix]
  if (!Object.keys(dataOf(ctx.session)).some((each) => keysInUse.includes(each))) ctx.session = null
}

/** Restores the data from before the handler, unless the session has ended. */
export function restore(ctx: SessionContext, saved: string): void {
  if (ctx.session) ctx.session = JSON.parse(saved)
}
