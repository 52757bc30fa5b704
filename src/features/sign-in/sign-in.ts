import type Router from '@koa/router'
import type { ExtendableContext, Next } from 'koa'
import type { JWTKeys } from '#auth/jwt'
import { Refusal } from '../../refusal.ts'
import { audit, auditRefusedCredentials } from '../../site/audit.ts'
import { fieldsOf } from '../../site/body.ts'
import { formAgain } from '../../site/form-again.ts'
import { queried } from '../../site/query.ts'
import { userRecord } from '../../site/records.ts'
import { seeOther } from '../../site/see-other.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { type Complaint, page } from '../../site/views.ts'
import { wantsPage } from '../../site/wants-page.ts'
import { User } from '../../users/user.ts'
import { usualDays } from '../../users/user-token.ts'
import { createToken } from '../api-tokens/own-tokens.ts'
import { SignedToken } from '../json-web-tokens/signed-token.ts'
import { rememberDevice } from '../known-devices/remember-device.ts'
import { lifetime } from '../sessions/session-limits.ts'
import { afterSignIn, asked } from './after-sign-in.ts'
import { limited } from './guessing.ts'

/** The sign-in page, and `POST /login`: a password for a session (form and JSON) or for a token (Basic). */
export function signIn(router: Router<object, SiteContext>, keys: JWTKeys): void {
  router.get('/login', (ctx) => {
    const next = queried(ctx, 'next')
    if (ctx.auth.has(User)) return seeOther(ctx, afterSignIn(next))
    if (next === undefined) return page(ctx, 'sign-in', {})
    const notice = asked(next) && 'Sign in to see that page.'
    return page(ctx, 'sign-in', { next: afterSignIn(next), notice })
  })

  router.post(
    '/login',
    onlyCredentialsInThisRequest,
    formAgain(signInForm),
    User.authenticator(),
    User.credentialsAuthenticator(),
    async (ctx) => {
      if (!ctx.auth.has(User) && wantsPage(ctx)) return refuse(ctx)
      const user = ctx.auth.require(User)
      if (hasHeader(ctx)) return exchange(ctx, user, keys)
      const { remember, next } = fieldsOf(ctx)
      // The session authenticator has noted the user. The session starts when the response is ready.
      ctx.session.maxAge = lifetime(remember === 'on' || remember === true)
      await rememberDevice(ctx, user)
      audit(ctx, 'signed in', user)
      if (wantsPage(ctx)) seeOther(ctx, afterSignIn(next))
      else ctx.body = userRecord(user)
    },
  )
}

/** Whether a request signs in by its header. The header decides alone, so the body is ignored. */
export function isSignInByHeader(ctx: ExtendableContext): boolean {
  return ctx.path === '/login' && hasHeader(ctx)
}

function onlyCredentialsInThisRequest(ctx: SiteContext, next: Next) {
  ctx.auth.present(User)
  return next()
}

function hasHeader({ req }: ExtendableContext): boolean {
  return req.headers.authorization !== undefined
}

/** Shows the form again, with a sentence that does not say whether the address or the password was wrong. */
function refuse(ctx: SiteContext): Promise<void> {
  auditRefusedCredentials(ctx)
  ctx.status = 401
  return signInForm(ctx, [{ detail: 'The e-mail address or password is wrong.' }])
}

function signInForm(ctx: SiteContext, errors: Complaint[]): Promise<void> {
  const { username, remember, next } = fieldsOf(ctx)
  return page(ctx, 'sign-in', {
    values: { username: typeof username === 'string' ? username : '', remember: remember !== undefined },
    errors,
    next: afterSignIn(next),
  })
}

/** Answers a password in the header: with a new token, a signed token or the record of the user. */
async function exchange(ctx: SiteContext, user: User, keys: JWTKeys): Promise<void> {
  const as = queried(ctx, 'as')
  if (as === undefined)
    ctx.body = await limited(ctx, { action: 'token', account: user.id }, () => newToken(ctx, user))
  else if (as === 'jwt') ctx.body = { token: keys.sign(SignedToken.of(user)) }
  else if (as === 'user') ctx.body = userRecord(user)
  else throw new Refusal(400, 'Ask for `as=jwt` or `as=user`, or for neither to get a bearer token.')
  audit(ctx, as === 'user' ? 'password used' : 'token issued', user)
}

async function newToken(ctx: SiteContext, { id: user }: User) {
  const { id, value, expiresAt } = await createToken(ctx, { name: 'From signing in', days: usualDays })
  return { id, value, user: { id: user }, expiresAt }
}
