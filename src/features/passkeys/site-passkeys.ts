import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server'
import type { ExtendableContext } from 'koa'
import { hasPasskeys } from '../../config/public-url.ts'
import { Refusal } from '../../refusal.ts'
import { HostCookie, newIdentifier } from '../../site/host-cookie.ts'
import { challengeLifetime } from './challenges.ts'
import type { RelyingParty } from './relying-party.ts'
import { requestOptions } from './use-passkey.ts'

interface PasskeySettings {
  /** Signs challenges and derives user handles. */
  readonly key: Buffer
  /** `RP_ID`. Without `PUBLIC_URL`, the host of the request replaces it. */
  readonly rpId: string | undefined
  readonly isTls: boolean
}

/** The part of `SiteContext` that these functions need. */
interface PasskeyContext extends ExtendableContext {
  readonly siteName: string
  readonly publicOrigin?: string | undefined
}

/** The passkeys of the site: its relying party, and the cookie that binds the challenge of a sign-in to the browser. */
export class SitePasskeys {
  readonly #key: Buffer
  readonly #rpId: string | undefined
  readonly #cookie: HostCookie

  constructor({ key, rpId, isTls }: PasskeySettings) {
    this.#key = key
    this.#rpId = rpId
    this.#cookie = new HostCookie('passkey', { isTls })
  }

  /** The relying party at the address of the site. `undefined` if browsers do not support passkeys at that address. */
  relyingParty({ publicOrigin, protocol, host, siteName }: PasskeyContext): RelyingParty | undefined {
    const party = { name: siteName, key: this.#key }
    if (publicOrigin !== undefined)
      return this.#rpId === undefined ? undefined : { ...party, id: this.#rpId, origin: publicOrigin }
    const url = URL.parse(`${protocol}://${host}`)
    return url && hasPasskeys(url) ? { ...party, id: url.hostname, origin: url.origin } : undefined
  }

  /** The options of a sign-in, bound to this browser by a cookie. Runs no statement. */
  signInOptions(ctx: PasskeyContext): PublicKeyCredentialRequestOptionsJSON | undefined {
    const party = this.relyingParty(ctx)
    if (!party) return undefined
    // An existing value is reused, so that the pages in other tabs still work.
    const binding = this.#cookie.read(ctx) ?? newIdentifier()
    this.#cookie.write(ctx, binding, challengeLifetime)
    return requestOptions(party, { purpose: 'sign-in', binding })
  }

  /** The value that binds a sign-in to this browser. No challenge is valid for an empty string. */
  browserOf(ctx: ExtendableContext): string {
    return this.#cookie.read(ctx) ?? ''
  }
}

/** The relying party of the request. Throws 404 if the site has no passkeys. */
export function relyingPartyOf(
  ctx: PasskeyContext & { readonly passkeys?: SitePasskeys | undefined },
): RelyingParty {
  const party = ctx.passkeys?.relyingParty(ctx)
  if (!party) throw new Refusal(404, 'This site has no passkeys.')
  return party
}
