import type { PendingSignIns } from '../../account/second-factor/pending-sign-ins.ts'
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
  readonly pendingSignIns: PendingSignIns
  readonly showSignIn: ShowPage
  readonly showSecurity: ShowPage
}

/** The routes of a site with identity providers. */
export function providerRoutes(router: SiteRouter, options: ProviderRoutesOptions): void {
  signInWith(router, options)
  callback(router, options)
  signUpWith(router, options.providers)
  accountIdentities(router, options)
  confirmWith(router, options.providers)
}
