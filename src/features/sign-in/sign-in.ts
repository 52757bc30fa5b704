import type { ExtendableContext, Next } from 'koa'
import { CredentialsAuthenticator, ignoreSession } from '#auth'
import { basic } from '../../account/basic.ts'
import { afterSignIn, asksToBeKept, completeSignIn, requestedPath } from '../../account/complete-sign-in.ts'
import { signInOptions } from '../../account/passkeys/site-passkeys.ts'
import { checkPassword } from '../../account/password-check.ts'
import { PendingSignIn } from '../../account/second-factor/pending-sign-ins.ts'
import type { Services } from '../../account/services.ts'
import { signOut } from '../../account/sign-out.ts'
import { auditRefusedCredentials } from '../../site/audit.ts'
import { fieldsOf, formAgain, refuseProblems, type ShowPage, textFields } from '../../site/form.ts'
import type { HostCookie } from '../../site/host-cookie.ts'
import { page, seeOther, wantsPage } from '../../site/page.ts'
import { queryParameter } from '../../site/query.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import type { FormMessage, Views } from '../../site/view-data.ts'
import { User } from '../../users/user.ts'
import { exchange } from './exchange.ts'
import { signInWithCode } from './sign-in-code.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    'sign-in': {
      values?: { username?: string; remember?: boolean }
      next?: string | undefined
      /** The options of a passkey ceremony for the script of the page, as JSON. Without them, there is no passkey button. */
      passkeyOptions?: string | undefined
    }
  }
}

const afterReset = 'Your password has been changed. Sign in with the new password.'
const expiredSignIn = 'Your sign-in has expired. Please start again.'
const cancelledSignIn = 'The sign-in was cancelled.'

/**
 * The sign-in page. `POST /login` starts a session (form and JSON), or returns a token or the user record (Basic). `POST /logout`
 * signs out. Returns the function that shows the page again with the errors of a rejected form.
 */
export function signIn(router: SiteRouter, services: Services, resetNotice: HostCookie): ShowPage {
  const showForm: ShowPage = (ctx, errors) => signInForm(services, ctx, errors)
  const form = CredentialsAuthenticator.from(User, async ({ username: email, password }, ctx) => {
    const match = ctx.is('urlencoded') ? 'any-case' : 'exact'
    const { outcome, user } = await checkPassword(services, ctx, { email, password, match })
    if (outcome !== 'needs-code') return user
    ctx.auth.login(new PendingSignIn(user), PendingSignIn)
    return undefined
  })

  router.get('/login', (ctx) => {
    const next = queryParameter(ctx, 'next')
    if (ctx.auth.has(User)) return seeOther(ctx, afterSignIn(next))
    const reason = requestedPath(next) && 'Sign in to see that page.'
    // The query only selects a fixed message, so a link on another site can do no harm.
    const expired = queryParameter(ctx, 'expired') !== undefined && expiredSignIn
    const cancelled = queryParameter(ctx, 'cancelled') !== undefined && cancelledSignIn
    const notice = resetNotice.take(ctx) === undefined ? expired || cancelled || reason : afterReset
    return signInPage(services, ctx, { next: next === undefined ? undefined : afterSignIn(next), notice })
  })

  const signsIn = [onlyThisRequest, formAgain(showForm), requireFields, basic(services), form] as const
  router.post('/login', ...signsIn, async (ctx) => {
    const pending = ctx.auth.get(PendingSignIn)
    if (pending) return signInWithCode(services, ctx, pending)
    if (!ctx.auth.has(User) && wantsPage(ctx)) return showWrongCredentials(services, ctx)
    const user = ctx.auth.require(User)
    if (hasAuthorization(ctx)) return exchange(services, ctx, user)
    const { next } = fieldsOf(ctx)
    return completeSignIn(services, ctx, user, { isKept: asksToBeKept(ctx), next, methods: ['pwd'] })
  })

  router.post('/logout', (ctx) => signOut(ctx))
  return showForm
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
function showWrongCredentials(services: Services, ctx: SiteContext): Promise<void> {
  auditRefusedCredentials(ctx)
  ctx.status = 401
  return signInForm(services, ctx, [{ detail: 'The e-mail address or password is wrong.' }])
}

/** Shows the form again, with its values except the password. */
export function signInForm(services: Services, ctx: SiteContext, errors: FormMessage[]): Promise<void> {
  const { remember, next } = fieldsOf(ctx)
  const { username } = textFields(ctx, 'username')
  const values = { username, remember: remember !== undefined }
  return signInPage(services, ctx, { values, errors, next: afterSignIn(next) })
}

function signInPage(services: Services, ctx: SiteContext, data: Views['sign-in']): Promise<void> {
  return page(ctx, 'sign-in', { ...data, passkeyOptions: signInOptions(services, ctx) })
}
