import { challengesOf } from '#auth'
import type { SiteContext } from './site-context.ts'

/** The header of a 401 (RFC 9110 §15.5.2): the challenges of the route's authenticators. */
export function challenges(ctx: SiteContext): Record<string, string> {
  return { 'WWW-Authenticate': challengesOf(ctx).join(', ') }
}
