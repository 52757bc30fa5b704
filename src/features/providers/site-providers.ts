import {
  appleClientSecret,
  gitHub,
  type Identity,
  type IdentityProvider,
  OpenIDProvider,
  type SignInWith,
} from '#auth/openid'
import type { Config } from '../../config/config.ts'
import type { ProviderConfig } from '../../config/providers.ts'
import { Refusal } from '../../refusal.ts'
import { ProviderFlows, type SiteFlowData } from './provider-flows.ts'

/** A configured provider. */
export interface SiteProvider extends SignInWith<SiteFlowData> {
  readonly id: string
  /** The name on pages. */
  readonly label: string
  readonly flows: ProviderFlows
}

/** The answer of a provider. */
export interface Answered {
  readonly provider: SiteProvider
  readonly identity: Identity
  readonly data: SiteFlowData
}

/** The identity providers of the site by their ids, and the store of their flows. */
export interface SiteProviders {
  readonly byId: ReadonlyMap<string, SiteProvider>
  readonly flows: ProviderFlows
}

/** Creates the providers of the configuration. `undefined` if there are none. */
export function siteProviders({ providers, publicUrl, secureCookies }: Config): SiteProviders | undefined {
  if (providers.length === 0 || !publicUrl) return undefined
  const flows = new ProviderFlows({ isTls: secureCookies })
  const all = providers.map((config): SiteProvider => {
    const { id, label } = config
    return { id, label, flows, provider: providerOf(config, `${publicUrl.origin}/login/with/${id}/callback`) }
  })
  return { flows, byId: new Map(all.map((each) => [each.id, each])) }
}

/** The provider in the path of a route. Throws 404 if the site has no such provider. */
export function providerInPath({ byId }: SiteProviders, params: { provider?: string }): SiteProvider {
  const found = byId.get(params.provider ?? '')
  if (!found) throw new Refusal(404, 'This site has no such identity provider.')
  return found
}

function providerOf(config: ProviderConfig, callbackUrl: string): IdentityProvider {
  const { id: name, kind, issuer, clientId, clientSecret, clientAuthentication, tenant, prompt } = config
  const client = { name, clientId, clientSecret, callbackUrl, clientAuthentication }
  const parameters: Record<string, string> = prompt === undefined ? {} : { prompt }
  if (kind === 'github') return gitHub({ ...client, parameters, origin: issuer })
  if (config.apple)
    return new OpenIDProvider({
      ...client,
      issuer,
      clientSecret: appleClientSecret({ clientId, ...config.apple }),
      scope: 'openid email name',
      parameters: { ...parameters, response_mode: 'form_post' },
    })
  const accepts = ({ claims }: Identity) => !tenant || claims[tenant.claim] === tenant.value
  return new OpenIDProvider({ ...client, issuer, parameters, accepts })
}
