export { appleClientSecret } from './apple.ts'
export { CookieFlows } from './cookie-flows.ts'
export { type Flow, type FlowData, type FlowStore, flowLifetime, type NewFlow } from './flow.ts'
export type { Identity } from './identity.ts'
export type { IdentityProvider, ProviderOptions, Refused } from './identity-provider.ts'
export { gitHub, OAuthProvider, type OAuthProviderOptions, type ReadResource } from './oauth-provider.ts'
export { OpenIDProvider, type OpenIDProviderOptions } from './openid-provider.ts'
export {
  type Answer,
  finishFlow,
  ProviderAuthenticator,
  providerAnswer,
  type SignInWith,
} from './provider-authenticator.ts'
export { beginFlow, type FlowOptions, startFlow } from './start-flow.ts'
