import type { Flow } from './flow.ts'
import type { Identity } from './identity.ts'

/** The client of this application at an identity provider. */
export interface ProviderOptions {
  /** The name in flows and pages, such as `google`. A name must not be reused for another provider. */
  readonly name: string
  readonly clientId: string
  /** The secret, or a function that makes one, as for Apple. Without it, the client is public. */
  readonly clientSecret?: string | (() => string | Promise<string>) | undefined
  /**
   * The URL that the provider sends the browser back to, exactly as registered there. It is never taken from the request, because a proxy
   * can change the host and the protocol.
   */
  readonly callbackUrl: string
  /**
   * How the client authenticates. By default with `client_secret_basic` if the provider supports it, which is the default of OpenID Connect
   * too. A provider may accept only the method that the client is registered with.
   */
  readonly clientAuthentication?: 'client_secret_basic' | 'client_secret_post' | undefined
  /** More parameters of the request, such as `{ prompt: 'select_account' }`. */
  readonly parameters?: Readonly<Record<string, string>> | undefined
  /** How long one request to the provider may take, in seconds: 5 by default. */
  readonly timeout?: number | undefined
}

/** Why a provider's answer identifies nobody. `denied`: the person or the provider refused. `invalid`: forged, repeated or too late. */
export type Refused = { readonly refused: 'denied' | 'invalid'; readonly code: string }

/** An identity provider. `OpenIDProvider` and `OAuthProvider` are its two kinds. */
export interface IdentityProvider {
  readonly name: string
  /** The URL at the provider that a browser opens to start a flow. Throws if the provider cannot be reached. */
  authorizationUrl(flow: Flow): Promise<URL>
  /** Verifies the answer of the provider. Throws if that is impossible, for example because the provider cannot be reached. */
  identify(answer: URLSearchParams, flow: Flow): Promise<Identity | Refused>
}
