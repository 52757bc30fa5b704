import type * as openid from 'openid-client'
import { Misuse, ProviderError } from '../errors.ts'
import { boundedFetch } from './bounded-fetch.ts'
import type { Flow } from './flow.ts'
import type { Identity } from './identity.ts'
import type { IdentityProvider, ProviderOptions, Refused } from './identity-provider.ts'
import { forgedBy, named, refusedBy } from './refusal.ts'

const hour = 60 * 60_000
const pause = 5_000

type OpenID = typeof openid

/** The part of a provider that does not depend on OpenID Connect. */
export abstract class BaseProvider implements IdentityProvider {
  readonly name: string
  protected readonly options: ProviderOptions & { readonly scope: string }
  #pending: Promise<openid.Configuration> | undefined
  #renewAt = 0
  readonly #now: () => number

  constructor(options: ProviderOptions & { readonly scope: string }) {
    const { name, clientId, callbackUrl } = options
    if (!name || !clientId) throw new Misuse('An identity provider needs a `name` and a `clientId`.')
    const url = URL.parse(callbackUrl)
    if (url?.search !== '' || url.hash !== '')
      throw new Misuse(`The \`callbackUrl\` of ${name} must be a URL without a query, as registered there.`)
    this.name = name
    this.options = options
    this.#now = options.now ?? (() => Date.now())
  }

  protected abstract configure(client: OpenID): Promise<openid.Configuration>
  protected abstract read(client: OpenID, exchange: Exchange): Promise<Identity>

  async authorizationUrl({ state, nonce, verifier, maxAge }: Flow): Promise<URL> {
    const client = await import('openid-client')
    const { callbackUrl, scope, parameters } = this.options
    const isOpenID = /\bopenid\b/.test(scope)
    return client.buildAuthorizationUrl(await this.#configuration(client), {
      redirect_uri: callbackUrl,
      scope,
      state,
      ...(isOpenID && { nonce }),
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...parameters,
      ...(maxAge !== undefined &&
        isOpenID && { max_age: String(maxAge || 1), ...(maxAge === 0 && { prompt: 'login' }) }),
    })
  }

  async identify(answer: URLSearchParams, flow: Flow): Promise<Identity | Refused> {
    const client = await import('openid-client')
    const config = await this.#configuration(client)
    const forged = forgedBy(answer, config.serverMetadata())
    if (forged !== undefined) return { refused: 'invalid', code: forged }
    const url = new URL(this.options.callbackUrl)
    url.search = answer.toString()
    try {
      const identity = await this.read(client, { config, url, flow })
      // OpenID Connect Core §2.
      if (/^[\x20-\x7e]{1,255}$/.test(identity.subject)) return identity
      throw new ProviderError(`${this.name} sent a subject that is empty, too long or not in ASCII.`)
    } catch (error) {
      const refused = refusedBy(client, error)
      if (refused) return refused
      // Loads the metadata and the keys again soon, because the provider may have changed them.
      this.#renewAt = Math.min(this.#renewAt, this.#now() + pause)
      throw named(client, this.name, error)
    }
  }

  // Loaded at the first use, so that a provider that is down does not stop the application from starting.
  #configuration(client: OpenID): Promise<openid.Configuration> {
    if (this.#pending && this.#now() < this.#renewAt) return this.#pending
    const before = this.#pending
    this.#renewAt = this.#now() + hour
    this.#pending = this.configure(client).catch((error: unknown) => {
      // Soon again, but not with every request.
      this.#renewAt = this.#now() + pause
      if (!before) this.#pending = undefined
      if (before) return before
      throw error
    })
    return this.#pending
  }

  /** Sets what both kinds of provider have in common. */
  protected prepare(client: OpenID, config: openid.Configuration): openid.Configuration {
    config.timeout = this.options.timeout ?? 5
    config[client.customFetch] = boundedFetch
    return config
  }

  protected clientAuthentication(
    client: OpenID,
    supported: readonly string[] | undefined,
  ): openid.ClientAuth {
    const { clientSecret } = this.options
    if (clientSecret === undefined) return client.None()
    const isBasic = supported === undefined || supported.includes('client_secret_basic')
    const { clientAuthentication = isBasic ? 'client_secret_basic' : 'client_secret_post' } = this.options
    return (...request) => {
      const secret = typeof clientSecret === 'function' ? clientSecret() : clientSecret
      const authenticate =
        clientAuthentication === 'client_secret_basic'
          ? client.ClientSecretBasic(secret)
          : client.ClientSecretPost(secret)
      return authenticate(...request)
    }
  }
}

/** The exchange of a code for tokens. */
export interface Exchange {
  readonly config: openid.Configuration
  /** The callback URL with the provider's answer. */
  readonly url: URL
  readonly flow: Flow
}
