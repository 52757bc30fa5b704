import type { AuthContext } from '#auth'
import {
  appleClientSecret,
  type FlowStore,
  gitHub,
  type Identity,
  type IdentityProvider,
  OpenIDProvider,
  ProviderAuthenticator,
} from '#auth/openid'
import type { Config } from '../../config/config.ts'
import type { ProviderConfig } from '../../config/providers.ts'
import { Refusal } from '../../refusal.ts'
import { User } from '../../users/user.ts'
import { ProviderFlows, type SiteFlowData } from './provider-flows.ts'

/** Reads the answers of a configured provider. The callback decides what an identity may do, so the authenticator logs in nobody. */
export class SiteProvider extends ProviderAuthenticator<User, SiteFlowData> {
  override readonly user = User
  override readonly provider: IdentityProvider
  override readonly flows: FlowStore<SiteFlowData>
  readonly id: string
  readonly label: string
  /** More parameters for a confirmation, which ask for a new sign-in. GitHub has none. */
  readonly proofParameters: Readonly<Record<string, string>>

  constructor(config: ProviderConfig, origin: string, flows: FlowStore<SiteFlowData>) {
    super()
    this.id = config.id
    this.label = config.label
    this.flows = flows
    this.provider = providerOf(config, `${origin}/login/with/${config.id}/callback`)
    // Not 0, because some providers reject it. A configured prompt stays, because Google does not know `login`.
    const proof = { max_age: '1', prompt: config.prompt ?? 'login' }
    this.proofParameters = config.kind === 'github' ? {} : proof
  }

  override authenticate(_identity: Identity, _ctx: AuthContext): undefined {}
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
export function siteProviders({
  providers,
  publicUrl,
  secureCookies: isTls,
}: Pick<Config, 'providers' | 'publicUrl' | 'secureCookies'>): SiteProviders | undefined {
  if (providers.length === 0 || !publicUrl) return undefined
  const flows = new ProviderFlows({ isTls })
  return {
    flows,
    byId: new Map(providers.map((each) => [each.id, new SiteProvider(each, publicUrl.origin, flows)])),
  }
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
