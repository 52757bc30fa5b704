import type * as openid from 'openid-client'
import { Misuse, ProviderError } from '../errors.ts'
import type { Flow } from './flow.ts'
import type { Identity } from './identity.ts'
import type { IdentityProvider, ProviderOptions, Refused } from './identity-provider.ts'
import { forgedBy, named, refusedBy } from './refusal.ts'

type OpenID = typeof openid

type ScopedOptions = ProviderOptions & { readonly scope: string }

/** The part of a provider that does not depend on OpenID Connect. */
export abstract class BaseProvider<Options extends ScopedOptions> implements IdentityProvider {
  readonly name: string
  protected readonly options: Options
  #configuration: Promise<openid.Configuration> | undefined

  constructor(options: Options) {
    const { name, clientId, callbackUrl } = options
    if (!name || !clientId) throw new Misuse('An identity provider needs a `name` and a `clientId`.')
    const url = URL.parse(callbackUrl)
    if (url?.search !== '' || url.hash !== '')
      throw new Misuse(`The \`callbackUrl\` of ${name} must be a URL without a query, as registered there.`)
    this.name = name
    this.options = options
  }

  protected abstract configure(client: OpenID): Promise<openid.Configuration>
  protected abstract read(client: OpenID, exchange: Exchange): Promise<Identity>

  async authorizationUrl({ state, nonce, verifier, maxAge }: Flow): Promise<URL> {
    const client = await import('openid-client')
    const { callbackUrl, scope, parameters } = this.options
    const isOpenID = /\bopenid\b/.test(scope)
    return client.buildAuthorizationUrl(await this.#configure(client), {
      redirect_uri: callbackUrl,
      scope,
      state,
      ...(isOpenID && { nonce }),
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      // A configured prompt stays, because Google does not know `login`.
      ...(isOpenID && maxAge === 0 && { prompt: 'login' }),
      ...parameters,
      // Not 0, because some providers reject it.
      ...(isOpenID && maxAge !== undefined && { max_age: String(maxAge || 1) }),
    })
  }

  async identify(answer: URLSearchParams, flow: Flow): Promise<Identity | Refused> {
    const client = await import('openid-client')
    const config = await this.#configure(client)
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
      // The provider may have changed its metadata or its keys.
      this.#configuration = undefined
      throw named(client, this.name, error)
    }
  }

  // Loaded at the first use, so that a provider that is down does not stop the application from starting, and after each failure.
  #configure(client: OpenID): Promise<openid.Configuration> {
    this.#configuration ??= this.configure(client).catch((error: unknown) => {
      this.#configuration = undefined
      throw error
    })
    return this.#configuration
  }

  /** Authenticates the client by the configured method, else by `client_secret_basic` if the provider supports it. */
  protected clientAuthentication(client: OpenID): openid.ClientAuth {
    const { clientSecret, clientAuthentication: method } = this.options
    if (clientSecret === undefined) return client.None()
    return async (server, ...request) => {
      const secret = typeof clientSecret === 'function' ? await clientSecret() : clientSecret
      const { token_endpoint_auth_methods_supported: supported = ['client_secret_basic'] } = server
      const isBasic = method ? method === 'client_secret_basic' : supported.includes('client_secret_basic')
      const authenticate = isBasic ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret)
      return authenticate(server, ...request)
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
