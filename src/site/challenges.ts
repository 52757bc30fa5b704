import type { SiteContext } from './site-context.ts'

/** The header of a 401 (RFC 9110 §15.5.2): the challenges of the route's authenticators. */
export function challenges(ctx: SiteContext): Record<string, string> {
  const sent = ctx.auth.authenticators.map((each) => each.challenge(ctx))
  return { 'WWW-Authenticate': sent.filter((each) => each !== undefined).join(', ') }
}
