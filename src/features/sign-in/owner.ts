import type { Next } from 'koa'
import { guard, redirectUnless, withNext } from '#auth'
import { audit } from '../../site/audit.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { wantsPage } from '../../site/wants-page.ts'
import { User } from '../../users/user.ts'

const toLogin = redirectUnless(User, (ctx) => withNext('/login', ctx))
const refuse = guard(User)

/**
 * Stands before what only its owner may see and change: a user with a session, or who sends the password (Basic). A
 * bearer token does not do: a stolen one could make others. A page sends a stranger to sign in.
 */
export function owner() {
  return [
    User.authenticator(),
    (ctx: SiteContext, next: Next) => (wantsPage(ctx) ? toLogin(ctx, next) : refuse(ctx, next)),
    auditPasswordUse,
  ] as const
}

function auditPasswordUse(ctx: SiteContext, next: Next) {
  if (ctx.auth.credentialsSent) audit(ctx, 'password used', ctx.auth.require(User))
  return next()
}
