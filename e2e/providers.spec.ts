import type { Page } from '@playwright/test'
import { type Forwarder, startForwarder } from '../src/auth/testing/forwarder.ts'
import { registered, startOIDC } from '../src/auth/testing/oidc-server.ts'
import { ageSessions } from './authenticator-app.ts'
import { confirm, signOut } from './forms.ts'
import { type Server, startServer } from './server.ts'
import { test as base, expect } from './site.ts'
import { expectSound } from './soundness.ts'

type ResponseMode = 'query' | 'form_post'

/** The site at `localhost`, and node-oidc-provider at `127.0.0.1`, which is another site for a browser. */
interface ProviderSite {
  readonly server: Server
  readonly issuer: string
}

const test = base.extend<{ responseMode: ResponseMode }, { providerSite: ProviderSite }>({
  responseMode: ['query', { option: true }],
  providerSite: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the dependencies of a fixture from this pattern.
    async ({}, use) => {
      const forwarder: Forwarder = await startForwarder()
      const origin = forwarder.origin.replace('127.0.0.1', 'localhost')
      const provider = await startOIDC(`${origin}/login/with/company/callback`)
      const server = await startServer({
        THROTTLE: 'off',
        PUBLIC_URL: origin,
        PROVIDERS: 'company',
        PROVIDER_COMPANY_LABEL: 'Company',
        PROVIDER_COMPANY_ISSUER: provider.issuer,
        PROVIDER_COMPANY_CLIENT_ID: registered.clientId,
        PROVIDER_COMPANY_CLIENT_SECRET: registered.clientSecret,
      })
      forwarder.to(server.url)
      await use({ server: { ...server, url: origin }, issuer: provider.issuer })
      await server.stop()
      await provider.close()
      forwarder.close()
    },
    { scope: 'worker' },
  ],
  server: ({ providerSite }, use) => use(providerSite.server),

  // Replaces the usual fixture, which fails on requests to other origins.
  page: async ({ context, providerSite: { issuer }, responseMode }, use) => {
    // The pages of the provider load a font.
    await context.route('https://fonts.googleapis.com/**', (route) => route.abort())
    await context.route(`${issuer}/auth?*`, (route, request) =>
      route.continue({ url: `${request.url()}&response_mode=${responseMode}` }),
    )
    await use(await context.newPage())
  },
})

/** Signs in on the page of the provider. */
async function signInAtProvider(page: Page, login: string) {
  await page.getByPlaceholder('Enter any login').fill(login)
  await page.getByPlaceholder('and password').fill('any')
  await page.getByRole('button', { name: 'Sign-in' }).click()
}

/** Allows the site to read who the person is. The provider asks for it once. */
function consent(page: Page) {
  return page.getByRole('button', { name: 'Continue' }).click()
}

interface Journey {
  readonly login: string
  /** Checks a page. */
  see(page: Page, title: string): Promise<void>
  /** Presses the button of the page that sends an answer by form, if scripts are off. */
  comeBack(page: Page): Promise<void>
}

const seeTitle = (page: Page, title: string) => expect(page).toHaveTitle(`${title} – koa-authenticators`)
const stay = async () => {}

/** A user signs up, signs in, confirms, connects a second account of the provider, and disconnects it. */
async function useProvider(page: Page, { server, issuer }: ProviderSite, { login, see, comeBack }: Journey) {
  const continueWith = page.getByRole('button', { name: 'Continue with Company' })
  await page.goto('/login?next=%2Faccount%2Fsecurity')
  await see(page, 'Sign in')
  await continueWith.click()
  await signInAtProvider(page, login)
  await consent(page)
  await comeBack(page)
  await see(page, 'Create an account')
  await expect(page.getByLabel('E-mail address')).toHaveValue(`${login}@example.com`)
  await page.getByRole('button', { name: 'Create account with Company' }).click()
  await expect(page).toHaveURL('/account/security')
  await expect(page.getByRole('heading', { name: `Company (${login}@example.com)` })).toBeVisible()

  await signOut(page)
  await page.goto('/login')
  await page.getByLabel('Keep me signed in on this device').check()
  await continueWith.click()
  await comeBack(page)
  await expect(page).toHaveURL('/account')
  await page.goto('/account/sessions')
  await expect(page.getByText('Kept signed in for up to 30 days')).toBeVisible()

  ageSessions(server)
  await page.goto('/account/security')
  await page.getByRole('button', { name: 'Connect Company' }).click()
  await see(page, 'Confirm it is you')
  await continueWith.click()
  await signInAtProvider(page, login)
  await comeBack(page)
  await expect(page).toHaveURL('/account/security')
  await expect(page.getByText('Thank you. You can continue now.')).toBeVisible()

  // Another person's browser, as far as the provider knows.
  await page.context().clearCookies({ domain: new URL(issuer).hostname })
  await page.getByRole('button', { name: 'Connect Company' }).click()
  await signInAtProvider(page, `${login}.private`)
  await consent(page)
  await comeBack(page)
  const second = `Company (${login}.private@example.com)`
  await expect(page.getByText(`${second} has been connected. You can sign in with it now.`)).toBeVisible()
  await see(page, 'Security')

  await confirm(page, { of: second, button: 'Disconnect' })
  await expect(page.getByText(`${second} has been disconnected.`)).toBeVisible()
  await confirm(page, { of: `Company (${login}@example.com)`, button: 'Disconnect' })
  await expect(page.getByText('This is your only way to sign in.')).toBeVisible()
}

test('V34 a user signs up, signs in, confirms, connects and disconnects', async ({ page, providerSite }) => {
  await useProvider(page, providerSite, { login: 'ada', see: expectSound, comeBack: stay })
})

test.describe('without script, with answers by form', () => {
  test.use({ javaScriptEnabled: false, responseMode: 'form_post' })

  test('V34 V35 a user signs up, signs in, confirms, connects and disconnects', async ({
    page,
    providerSite,
  }) => {
    await useProvider(page, providerSite, { login: 'dora', see: seeTitle, comeBack: consent })
  })
})
