import type { ExtendableContext } from 'koa'

const forms: Record<string, string> = {
  '/login': 'Sign-in form',
  '/login/passkey': 'Sign-in with a passkey',
  '/login/code': 'Code form',
  '/signup/with': 'Sign-up with a provider',
  '/confirm': 'Confirmation form',
  '/account/security/totp/confirm': 'Set-up of the authenticator app',
  '/forgot': 'Forgotten password form',
  '/reset': 'New password form',
  '/account/email': 'Change of address form',
  '/account/verification': 'Profile page',
  '/account/password': 'Change password form',
  '/account/close': 'Close account form',
  '/account/tokens': 'API tokens page',
  '/account/passkeys': 'Security page',
}

/** The name of the form or the kind of API request, for the activity page. */
export function attemptedForm(ctx: ExtendableContext): string {
  if (ctx.req.headers.authorization !== undefined) return 'API, Authorization header'
  return (ctx.is('urlencoded') && forms[ctx.path]) || 'API, JSON'
}
