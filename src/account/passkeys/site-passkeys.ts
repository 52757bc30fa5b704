import { hasPasskeys } from '../../config/public-url.ts'
import { newIdentifier } from '../../database/identifier.ts'
import { Refusal } from '../../refusal.ts'
import type { SiteContext } from '../../site/site-context.ts'
import type { Services } from '../services.ts'
import { challengeLifetime } from './challenges.ts'
import type { RelyingParty } from './relying-party.ts'
import { requestOptions } from './use-passkey.ts'

/**
 * The relying party at the address of the site. `undefined` in production without `SECRETS_KEY`, or if browsers do not support
 * passkeys at the address.
 */
export function relyingParty(services: Services, ctx: SiteContext): RelyingParty | undefined {
  if (!services.passkeys) return undefined
  const { key, rpId } = services.passkeys
  const party = { name: services.siteName, key }
  if (services.publicOrigin !== undefined)
    return rpId ? { ...party, id: rpId, origin: services.publicOrigin } : undefined
  const url = URL.parse(`${ctx.protocol}://${ctx.host}`)
  return url && hasPasskeys(url) ? { ...party, id: url.hostname, origin: url.origin } : undefined
}

/** The relying party of the request. Throws 404 if the site has no passkeys. */
export function requireRelyingParty(services: Services, ctx: SiteContext): RelyingParty {
  const party = relyingParty(services, ctx)
  if (!party) throw new Refusal(404, 'This site has no passkeys.')
  return party
}

/** The options of a sign-in as JSON, bound to this browser by a cookie. Does not query the database. */
export function signInOptions(services: Services, ctx: SiteContext): string | undefined {
  const party = relyingParty(services, ctx)
  if (!party || !services.passkeys) return undefined
  const { cookie } = services.passkeys
  // An existing value is reused, so that the pages in other tabs still work.
  const binding = cookie.read(ctx) ?? newIdentifier()
  cookie.write(ctx, binding, challengeLifetime)
  return JSON.stringify(requestOptions(party, { purpose: 'sign-in', binding }))
}
