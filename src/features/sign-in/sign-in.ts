import type { ExtendableContext, Next } from 'koa'
import { ignoreSession } from '#auth'
import type { JWTKeys } from '#auth/jwt'
import { afterSignIn, requestedPath } from '../../account/after-sign-in.ts'
import { asksToBeKept, completeSignIn } from '../../account/complete-sign-in.ts'
import { limited } from '../../account/limits.ts'
import { notifyOfProgram } from '../../account/notify.ts'
import { createToken } from '../../account/own-tokens.ts'
import { signInOptions } from '../../account/passkeys/site-passkeys.ts'
import type { PendingSignIns } from '../../account/second-factor/pending-sign-ins.ts'
import { signOut } from '../../account/sign-out.ts'
import { Refusal } from '../../refusal.ts'
import { audit, auditRefusedCredentials } from '../../site/audit.ts'
import { fieldsOf, formAgain, refuseProblems, textFields } from '../../site/form.ts'
import type { HostCookie } from '../../site/host-cookie.ts'
import { page, seeOther, wantsPage } from '../../site/page.ts'
import { queryParameter } from '../../site/query.ts'
import { userRecord } from '../../site/records.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import type { FormMessage, Views } from '../../site/view-data.ts'
import { SignedToken } from '../../users/signed-token.ts'
import { User } from '../../users/user.ts'
import { usualDays } from '../../users/user-token.ts'
import { askForCode } from './sign-in-code.ts'

const afterReset = 'Your password has been changed. Sign in with the new password.'
const expiredSignIn = 'Your sign-in has expired. Please start again.'
const cancelledSignIn = 'The sign-in was cancelled.'
const unknownAs = 'Unknown `as`. Use `jwt` or `user`, or omit it to get a bearer token.'

interface SignInOptions {
  readonly keys: JWTKeys
  readonly pendingSignIns: PendingSignIns
  readonly resetNotice: HostCookie
}

/**
 * The sign-in page. `POST /login` starts a session (form and JSON), or returns a token or the user record (Basic). `POST /logout`
 * signs out.
 */
export function signIn(router: SiteRouter, { keys, pendingSignIns, resetNotice }: SignInOptions): void {
  router.get('/login', (ctx) => {
    const next = queryParameter(ctx, 'next')
    if (ctx.auth.has(User)) return seeOther(ctx, afterSignIn(next))
    const reason = requestedPath(next) && 'Sign in to see that page.'
    // The query only selects a fixed message, so a link on another site can do no harm.
    const expired = queryParameter(ctx, 'expired') !== undefined && expiredSignIn
    const cancelled = queryParameter(ctx, 'cancelled') !== undefined && cancelledSignIn
    const notice = resetNotice.take(ctx) === undefined ? expired || cancelled || reason : afterReset
    return signInPage(ctx, { next: next === undefined ? undefined : afterSignIn(next), notice })
  })

  router.post(
    '/login',
    onlyThisRequest,
    formAgain(signInForm),
    requireFields,
    askForCode(pendingSignIns),
    User.authenticator(),
    User.credentialsAuthenticator(),
    async (ctx) => {
      if (!ctx.auth.has(User) && wantsPage(ctx)) return showWrongCredentials(ctx)
      const user = ctx.auth.require(User)
      if (hasAuthorization(ctx)) return exchange(ctx, user, keys)
      const { next } = fieldsOf(ctx)
      const methods = ctx.state.methods ?? ['pwd']
      return completeSignIn(ctx, user, { isKept: asksToBeKept(ctx), next, methods })
    },
  )

  router.post('/logout', (ctx) => signOut(ctx))
}

/** Whether a request signs in by the `Authorization` header. Its body is ignored. */
export function isSignInByHeader(ctx: ExtendableContext): boolean {
  return ctx.path === '/login' && hasAuthorization(ctx)
}

/** Ignores the session, so that a sign-in always needs credentials. */
export function onlyThisRequest(ctx: SiteContext, next: Next) {
  ignoreSession(ctx, User)
  return next()
}

/** Throws 400 for a missing or malformed field. A body with neither field is no attempt to sign in, and gets 401 later. */
function requireFields(ctx: SiteContext, next: Next) {
  const { username, password } = fieldsOf(ctx)
  const isAttempt = username !== undefined || password !== undefined
  if (isAttempt && !hasAuthorization(ctx))
    refuseProblems({
      username: fieldProblem(
        username,
        wantsPage(ctx) ? 'Enter your e-mail address.' : '`username` is missing.',
      ),
      password: fieldProblem(password, wantsPage(ctx) ? 'Enter your password.' : '`password` is missing.'),
    })
  return next()
}

function fieldProblem(value: unknown, missing: string): string | undefined {
  if (value === undefined || value === '') return missing
  return typeof value === 'string' ? undefined : 'Send the user name and the password as strings.'
}

function hasAuthorization({ req }: ExtendableContext): boolean {
  return req.headers.authorization !== undefined
}

// The message does not reveal whether the address or the password was wrong.
function showWrongCredentials(ctx: SiteContext): Promise<void> {
  auditRefusedCredentials(ctx)
  ctx.status = 401
  return signInForm(ctx, [{ detail: 'The e-mail address or password is wrong.' }])
}

/** Shows the form again, with its values except the password. */
export function signInForm(ctx: SiteContext, errors: FormMessage[]): Promise<void> {
  const { remember, next } = fieldsOf(ctx)
  const { username } = textFields(ctx, 'username')
  const values = { username, remember: remember !== undefined }
  return signInPage(ctx, { values, errors, next: afterSignIn(next) })
}

function signInPage(ctx: SiteContext, data: Views['sign-in']): Promise<void> {
  return page(ctx, 'sign-in', { ...data, passkeyOptions: signInOptions(ctx) })
}

/** Responds to a password in the header with an opaque token, a JWT or the user's record. */
async function exchange(ctx: SiteContext, user: User, keys: JWTKeys): Promise<void> {
  await notifyOfProgram(ctx, user)
  const as = queryParameter(ctx, 'as')
  if (as === undefined || as === 'jwt') {
    ctx.body = as === 'jwt' ? { token: await keys.sign(SignedToken.of(user)) } : await newToken(ctx, user)
    return audit(ctx, 'token issued', user)
  }
  audit(ctx, 'password used', user)
  if (as !== 'user') throw new Refusal('invalid_parameter', unknownAs)
  ctx.body = userRecord(user)
}

function newToken(ctx: SiteContext, { id: user }: User) {
  return limited(ctx, { action: 'token', account: user }, async () => {
    const { id, value, expiresAt } = await createToken(ctx, { name: 'From signing in', days: usualDays })
    return { id, value, user: { id: user }, expiresAt }
  })
}
