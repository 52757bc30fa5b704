import type * as openid from 'openid-client'
import { ProviderError } from '../errors.ts'
import { isLoopback } from '../provider-response.ts'
import { BaseProvider, type Exchange } from './base-provider.ts'
import { boundedFetch } from './bounded-fetch.ts'
import type { Identity } from './identity.ts'
import type { ProviderOptions } from './identity-provider.ts'

/** Reads the record of a person from an API of the provider. */
export type ReadResource = (url: string) => Promise<unknown>

/** The client of this application at a provider with OAuth 2.0 only. */
export interface OAuthProviderOptions extends ProviderOptions {
  /** The name of the provider in identities, such as `https://github.com`. */
  readonly issuer: string
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  readonly scope: string
  /** Reads who the person is. `read` sends a GET request with the access token, and returns the JSON. */
  readonly identify: (read: ReadResource) => Promise<Omit<Identity, 'issuer' | 'authenticatedAt' | 'methods'>>
}

/**
 * A provider with OAuth 2.0 only. It has no ID token, so the person's record comes from an API. PKCE binds the code to the flow, if the
 * provider supports it. The provider does not say when the person authenticated.
 */
export class OAuthProvider extends BaseProvider<OAuthProviderOptions> {
  protected async configure(client: typeof openid): Promise<openid.Configuration> {
    const { issuer, authorizationEndpoint, tokenEndpoint, clientId, timeout = 5 } = this.options
    const server = {
      issuer,
      authorization_endpoint: authorizationEndpoint,
      token_endpoint: tokenEndpoint,
      token_endpoint_auth_methods_supported: ['client_secret_post'],
    }
    const authentication = this.clientAuthentication(client)
    const config = new client.Configuration(server, clientId, undefined, authentication)
    if (isLoopback(new URL(tokenEndpoint))) client.allowInsecureRequests(config)
    config.timeout = timeout
    config[client.customFetch] = boundedFetch
    return config
  }

  protected async read(client: typeof openid, { config, url, flow }: Exchange): Promise<Identity> {
    const { access_token } = await client.authorizationCodeGrant(config, url, {
      expectedState: flow.state,
      pkceCodeVerifier: flow.verifier,
    })
    const read = async (address: string): Promise<unknown> => {
      const headers = new Headers({ accept: 'application/json', 'user-agent': 'koa-authenticators' })
      const url = new URL(address)
      const response = await client.fetchProtectedResource(config, access_token, url, 'GET', null, headers)
      if (!response.ok)
        throw new ProviderError(`The identity provider responded with ${response.status} to ${address}.`)
      return response.json()
    }
    const found = await this.options.identify(read)
    return { ...found, issuer: this.options.issuer, authenticatedAt: undefined, methods: [] }
  }
}

interface GitHubOptions extends Omit<ProviderOptions, 'name'> {
  readonly name?: string
  /** `https://github.com`, or the address of GitHub Enterprise Server. */
  readonly origin?: string
}

interface GitHubEmail {
  readonly email: string
  readonly primary: boolean
  readonly verified: boolean
}

/** GitHub, or a GitHub Enterprise Server. The address is the primary one, also if it is private. */
export function gitHub({
  name = 'github',
  origin = 'https://github.com',
  ...options
}: GitHubOptions): OAuthProvider {
  const api = origin === 'https://github.com' ? 'https://api.github.com' : `${origin}/api/v3`
  return new OAuthProvider({
    ...options,
    name,
    issuer: origin,
    authorizationEndpoint: `${origin}/login/oauth/authorize`,
    tokenEndpoint: `${origin}/login/oauth/access_token`,
    scope: 'read:user user:email',
    async identify(read) {
      // The API documents these types.
      const user = (await read(`${api}/user`)) as { id: number; login: string; name: string | null }
      if (!Number.isSafeInteger(user.id)) throw new Error('GitHub sent no id of the user.')
      const emails = (await read(`${api}/user/emails`)) as readonly GitHubEmail[]
      const primary = emails.find((each) => each.primary)
      return {
        subject: String(user.id),
        email: primary?.email,
        isEmailVerified: primary?.verified === true,
        name: user.name ?? user.login,
        claims: { ...user },
      }
    },
  })
}
