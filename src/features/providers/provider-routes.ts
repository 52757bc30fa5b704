import type { Services } from '../../account/services.ts'
import type { ShowPage } from '../../site/form.ts'
import type { SiteRouter } from '../../site/site-context.ts'
import { accountIdentities } from './account-identities.ts'
import { callback } from './callback.ts'
import { confirmWith } from './confirm-with.ts'
import { signInWith } from './sign-in-with.ts'
import { signUpWith } from './sign-up-with.ts'
import type { SiteProviders } from './site-providers.ts'

interface ProviderRoutesOptions {
  readonly providers: SiteProviders
  readonly showSignIn: ShowPage
  readonly showSecurity: ShowPage
}

/** The routes of a site with identity providers. */
export function providerRoutes(router: SiteRouter, services: Services, options: ProviderRoutesOptions): void {
  const { providers } = options
  signInWith(router, services, options)
  callback(router, services, providers)
  signUpWith(router, services, providers)
  accountIdentities(router, services, options)
  confirmWith(router, services, providers)
}
