import type { Services } from '../../account/services.ts'
import type { ShowPage } from '../../site/form.ts'
import type { SiteRouter } from '../../site/site-context.ts'
import { accountIdentities } from './account-identities.ts'
import { callback } from './callback.ts'
import { confirmWith } from './confirm-with.ts'
import { signInWith } from './sign-in-with.ts'
import { signUpWith } from './sign-up-with.ts'
import type { SiteProviders } from './site-providers.ts'

/** The routes of a site with identity providers. */
export function providerRoutes(
  router: SiteRouter,
  services: Services,
  {
    providers,
    showSignIn,
    showSecurity,
  }: Record<'showSignIn' | 'showSecurity', ShowPage> & { providers: SiteProviders },
): void {
  signInWith(router, services, providers, showSignIn)
  callback(router, services, providers)
  signUpWith(router, services, providers)
  accountIdentities(router, services, providers, showSecurity)
  confirmWith(router, services, providers)
}
