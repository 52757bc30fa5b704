import { nextPath } from '#auth'
import { audit } from '../site/audit.ts'
import { fieldsOf } from '../site/form.ts'
import { seeOther, wantsPage } from '../site/page.ts'
import { queryParameter } from '../site/query.ts'
import type { SiteContext } from '../site/site-context.ts'
import { User, userRecord } from '../users/user.ts'
import type { OnNewDevice } from './devices/devices.ts'
import { type Notice, notify } from './notify.ts'
import type { Services } from './services.ts'
import { limits } from './sessions/stored-session.ts'

interface NewSession {
  /** "Keep me signed in on this device". */
  readonly isKept?: boolean
  /** How the user authenticated, as values of RFC 8176. */
  readonly methods: readonly string[]
  /** When the user authenticated, if that was earlier. */
  readonly at?: Date
}

interface SignIn extends NewSession {
  /** The requested path, which may be invalid. */
  readonly next: unknown
  /** For the activity page. */
  readonly detail?: string
  /** A message for the next account page. */
  readonly notice?: string | undefined
}

const newDevice: Notice = {
  subject: 'New sign-in to your account',
  text: 'There was a sign-in to your account from a new device.',
}

/**
 * Starts the session of a user. The session middleware saves it after the handler.
 *
 * @param onNewDevice called in the transaction that adds a new device to the account
 */
export async function startSession(
  services: Services,
  ctx: SiteContext,
  user: User,
  { isKept, methods, at }: NewSession,
  onNewDevice?: OnNewDevice,
): Promise<void> {
  ctx.auth.login(user, User, { methods, ...(at && { at }) })
  ctx.session.maxAge = (isKept ? limits.kept : limits.usual).absolute
  await services.guessing?.devices.remember(ctx, user, onNewDevice)
}

/** Starts the session of a user and responds. Sign-ins by form, JSON, code and passkey call it. */
export async function completeSignIn(
  services: Services,
  ctx: SiteContext,
  user: User,
  { next, detail, notice, ...session }: SignIn,
): Promise<void> {
  await startSession(services, ctx, user, session, (em) => notify(services, ctx, em, user, newDevice))
  if (session.methods.join() === 'pwd' && wantsPage(ctx)) ctx.session.offersPasskey = true
  audit(ctx, 'signed in', user, { detail })
  if (wantsPage(ctx)) seeOther(ctx, afterSignIn(next), notice)
  else ctx.body = userRecord(user)
}

/** Whether the form or the JSON body asks for a long session: "Keep me signed in on this device". */
export function asksToBeKept(ctx: SiteContext): boolean {
  const { remember } = fieldsOf(ctx)
  return remember === 'on' || remember === true
}

/** The path after a sign-in: `next`, or `/account` if `next` is missing, invalid, `/login`, `/logout` or `/signup`. */
export function afterSignIn(next: unknown): string {
  if (next === undefined) return '/account'
  const path = nextPath(next, '/account')
  return /^\/(?:login|logout|signup)$/i.test(pathname(path)) ? '/account' : path
}

/** The path to continue with after a form: its field `next`, or the query of its page. `undefined` if there is no valid one. */
export function requestedNext(ctx: SiteContext): string | undefined {
  return requestedPath(fieldsOf(ctx).next ?? queryParameter(ctx, 'next'))
}

/** Returns `next` if it is a valid redirect target, otherwise `undefined`. */
export function requestedPath(next: unknown): string | undefined {
  return next !== undefined && afterSignIn(next) === next ? next : undefined
}

/** Adds `next` to the query of a path, unless it is no valid redirect target. */
export function withNextPath(path: string, next: unknown): string {
  const valid = requestedPath(next)
  if (valid === undefined) return path
  return `${path}${path.includes('?') ? '&' : '?'}next=${encodeURIComponent(valid)}`
}

// Normalised and decoded, because dots and escapes allow several spellings of a path.
function pathname(path: string): string {
  return decodeURIComponent(new URL(path, 'https://here.invalid').pathname)
}
