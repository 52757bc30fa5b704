import type { Next } from 'koa'
import { credentialsSent, guard, redirectUnless, withNext } from '#auth'
import { audit } from '../site/audit.ts'
import { wantsPage } from '../site/page.ts'
import type { SiteContext } from '../site/site-context.ts'
import { User } from '../users/user.ts'
import { basic } from './basic.ts'
import { count } from './limits.ts'
import { notifyOfProgram } from './notify.ts'
import { checkPassword } from './password-check.ts'
import type { Services } from './services.ts'

/** Redirects requests without a user to the login page. After the sign-in, visitors return to the page that they requested. */
export const signedIn = redirectUnless(User, (ctx) => withNext('/login', ctx))
const requireUser = guard(User)

/**
 * Requires a session or the password (Basic). Bearer tokens are not accepted, because a stolen token could create more tokens.
 * Page requests without a user are redirected to the login page.
 */
export function owner(services: Services) {
  return [
    basic(services),
    (ctx: SiteContext, next: Next) => (wantsPage(ctx) ? signedIn(ctx, next) : requireUser(ctx, next)),
    (ctx: SiteContext, next: Next) => reportPasswordUse(services, ctx, next),
    (ctx: SiteContext, next: Next) => countChange(services, ctx, next),
  ] as const
}

/**
 * Checks the current password in the request. Returns the problem, or `undefined` if the password is right. A wrong password
 * counts as a guess, as at sign-in.
 * @throws {TryLater} 429, after too many guesses
 */
export async function currentPasswordProblem(
  services: Services,
  ctx: SiteContext,
  password: string,
): Promise<string | undefined> {
  const { id, email } = ctx.auth.require(User)
  if (password === '') return 'Enter your current password.'
  const found = await checkPassword(services, ctx, { email, password, match: 'exact' })
  return found.user?.id === id ? undefined : 'This is not your current password.'
}

/** Counts a request of the owner that may write. */
async function countChange(services: Services, ctx: SiteContext, next: Next): Promise<unknown> {
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD')
    await count(services, ctx, 'change', ctx.auth.require(User).id)
  return next()
}

async function reportPasswordUse(services: Services, ctx: SiteContext, next: Next): Promise<unknown> {
  if (credentialsSent(ctx)) {
    const user = ctx.auth.require(User)
    audit(ctx, 'password used', user)
    await notifyOfProgram(services, ctx, user)
  }
  return next()
}
