import type * as openid from 'openid-client'
import { Misuse, ProviderError } from '../errors.ts'
import { isLoopback } from '../provider-response.ts'
import { BaseProvider, type Exchange } from './base-provider.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { type Identity, identityOf } from './identity.ts'
import type { ProviderOptions } from './identity-provider.ts'

/** The client of this application at a provider with OpenID Connect. */
export interface OpenIDProviderOptions extends ProviderOptions {
  /** The issuer, such as `https://accounts.google.com`. Its metadata are loaded at the first use, and again after a failure. */
  readonly issuer: string
  /** `openid email profile` by default. */
  readonly scope?: string | undefined
  /** Whether an ID token is accepted, for example by its `hd` or `tid` claim. Everyone by default. */
  readonly accepts?: ((identity: Identity) => boolean) | undefined
}

/** A provider with OpenID Connect Core 1.0. Uses the code flow with PKCE, a nonce, and verified signatures. */
export class OpenIDProvider extends BaseProvider<OpenIDProviderOptions & { readonly scope: string }> {
  readonly #issuer: URL

  constructor({ scope = 'openid email profile', ...options }: OpenIDProviderOptions) {
    super({ ...options, scope })
    const url = URL.parse(options.issuer)
    if (!url || !(url.protocol === 'https:' || isLoopback(url)))
      throw new Misuse(`The \`issuer\` of ${options.name} must be an https URL.`)
    if (!/\bopenid\b/.test(scope))
      throw new Misuse(`The \`scope\` of ${options.name} must contain \`openid\`.`)
    this.#issuer = url
  }

  protected configure(client: typeof openid): Promise<openid.Configuration> {
    const { clientId, timeout = 5 } = this.options
    return client.discovery(this.#issuer, clientId, undefined, this.clientAuthentication(client), {
      timeout,
      [client.customFetch]: boundedFetch,
      execute: [
        client.enableNonRepudiationChecks,
        ...(isLoopback(this.#issuer) ? [client.allowInsecureRequests] : []),
      ],
    })
  }

  protected async read(client: typeof openid, { config, url, flow }: Exchange): Promise<Identity> {
    const tokens = await client.authorizationCodeGrant(config, url, {
      expectedState: flow.state,
      expectedNonce: flow.nonce,
      pkceCodeVerifier: flow.verifier,
      idTokenExpected: true,
      ...(flow.maxAge !== undefined && { maxAge: Math.max(flow.maxAge, minimumAge) }),
    })
    const claims = tokens.claims()
    if (!claims) throw new ProviderError('The provider sent no ID token.')
    // Some providers send the address only here.
    const isComplete = claims.email !== undefined || !config.serverMetadata().userinfo_endpoint
    const more = isComplete ? claims : await client.fetchUserInfo(config, tokens.access_token, claims.sub)
    // The same source says the address and whether it is verified.
    const { email, email_verified } = more
    const identity = identityOf(claims.iss, { ...more, ...claims, email, email_verified })
    const { accepts } = this.options
    if (!accepts || accepts(identity)) return identity
    throw new client.AuthorizationResponseError('not accepted', {
      cause: new URLSearchParams({ error: 'not_accepted' }),
    })
  }
}

// The person needs some time between the proof and the return to the application.
const minimumAge = 300
