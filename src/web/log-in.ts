import type Router from '@koa/router'
import type { ExtendableContext, Next } from 'koa'
import { guard, Unauthorized } from '#auth'
import type { JWTKeys } from '#auth/jwt'
import { Refusal, TryLater } from '../refusal.ts'
import { User } from '../users/user.ts'
import { usualDays } from '../users/user-token.ts'
import { afterLogin } from './after-login.ts'
import { fieldsOf } from './body.ts'
import { wantsPage } from './face.ts'
import { limited } from './guessing.ts'
import { createToken } from './own-tokens.ts'
import { queried } from './query.ts'
import { userRecord } from './records.ts'
import { seeOther } from './see-other.ts'
import { lifetime } from './session-limits.ts'
import { SignedToken } from './signed-token.ts'
import type { SiteContext } from './site-context.ts'
import { page } from './views.ts'

/**
 * `POST /login`: a password for a token (Basic), or for a session (form and JSON). Only what is sent here decides,
 * whoever the session belongs to.
 */
export function logIn(router: Router<object, SiteContext>, keys: JWTKeys): void {
  router.post(
    '/login',
    onlyWhatIsSent,
    sayWhatIsWrong,
    User.authenticator(),
    User.credentialsAuthenticator(),
    guard(User),
    (ctx) => (hasHeader(ctx) ? giveToken(ctx, keys) : startSession(ctx)),
  )
}

/** Whether it is a log-in by the header, which decides alone: the body beside it is ignored, whatever it is. */
export function isLogInByHeader(ctx: ExtendableContext): boolean {
  return ctx.path === '/login' && hasHeader(ctx)
}

function onlyWhatIsSent(ctx: SiteContext, next: Next) {
  ctx.auth.present(User)
  return next()
}

function hasHeader({ req }: ExtendableContext): boolean {
  return req.headers.authorization !== undefined
}

/** The form again, with one sentence that does not say which of the two was wrong; or that it is too early to say. */
async function sayWhatIsWrong(ctx: SiteContext, next: Next) {
  if (!wantsPage(ctx)) return next()
  try {
    await next()
  } catch (error) {
    if (error instanceof Unauthorized) await refuse(ctx, 401, 'The e-mail address or password is wrong.')
    else if (error instanceof TryLater) {
      ctx.set(error.headers)
      await refuse(ctx, error.status, error.message)
    } else throw error
  }
}

function refuse(ctx: SiteContext, status: number, detail: string) {
  const { username, remember, next } = fieldsOf(ctx)
  ctx.status = status
  return page(ctx, 'login', {
    values: { username: typeof username === 'string' ? username : '', remember: remember !== undefined },
    errors: [{ detail }],
    next: afterLogin(next),
  })
}

// The session authenticator remembers whoever is signed in now; what is left to say is for how long.
function startSession(ctx: SiteContext): void {
  const { remember, next } = fieldsOf(ctx)
  ctx.session.maxAge = lifetime(remember === 'on' || remember === true)
  if (wantsPage(ctx)) seeOther(ctx, afterLogin(next))
  else ctx.body = userRecord(ctx.auth.require(User))
}

async function giveToken(ctx: SiteContext, keys: JWTKeys): Promise<void> {
  const user = ctx.auth.require(User)
  const as = queried(ctx, 'as')
  if (as === undefined)
    ctx.body = await limited(ctx, { action: 'token', account: user.id }, () => newToken(ctx, user))
  else if (as === 'jwt') ctx.body = { token: keys.sign(SignedToken.of(user)) }
  else if (as === 'user') ctx.body = userRecord(user)
  else throw new Refusal(400, 'Ask for `as=jwt` or `as=user`, or for neither to get a bearer token.')
}

async function newToken(ctx: SiteContext, { id: user }: User) {
  const { id, value, expiresAt } = await createToken(ctx, { name: 'From signing in', days: usualDays })
  return { id, value, user: { id: user }, expiresAt }
}
