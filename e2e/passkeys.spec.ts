import type { Page } from '@playwright/test'
import { ageSessions } from './authenticator-app.ts'
import { addPasskey, confirm } from './forms.ts'
import { expect, test } from './site.ts'
import { expectSound } from './soundness.ts'
import { addAuthenticator } from './virtual-authenticator.ts'

test.use({ host: 'localhost' })

/** Turns the autofill off. Otherwise, the simulated user would choose the passkey before the test clicks the button. */
function withoutAutofill(page: Page) {
  const off = 'PublicKeyCredential.isConditionalMediationAvailable = async () => false'
  return page.addInitScript(`if (globalThis.PublicKeyCredential) ${off}`)
}

test('U10 a user adds a passkey, and signs in with it by the button', async ({ page, context, account }) => {
  const authenticator = await addAuthenticator(page)
  await account.signIn(page)
  await page.goto('/account/security')
  await expect(page.getByLabel('Name of the new passkey')).toBeEmpty()
  await expectSound(page, 'Security')
  await addPasskey(page, authenticator, 'Laptop')
  expect(await authenticator.count()).toBe(1)
  await expectSound(page, 'Security')

  await context.clearCookies()
  await withoutAutofill(page)
  await page.goto('/account/activity')
  await expectSound(page, 'Sign in')
  await page.getByLabel('Keep me signed in on this device').check()
  await authenticator.setPresent(true)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await expect(page).toHaveURL('/account/activity')
  await page.goto('/account/sessions')
  await expect(page.getByText('Kept signed in for up to 30 days')).toBeVisible()
})

test('U10 a user signs in by the autofill of the address field', async ({ page, context, account }) => {
  const authenticator = await addAuthenticator(page)
  await account.signIn(page)
  await addPasskey(page, authenticator, 'Laptop')
  await context.clearCookies()
  // The simulated user chooses the passkey of the autofill at once.
  await authenticator.setPresent(true)
  await page.goto('/login?next=%2Faccount%2Factivity')
  await expect(page).toHaveURL('/account/activity')
  await expect(page.getByText('Passkey: Laptop')).toBeVisible()
})

test('U13 the password still signs in while the autofill waits', async ({ page, context, account }) => {
  const authenticator = await addAuthenticator(page)
  await account.signIn(page)
  await addPasskey(page, authenticator, 'Laptop')
  await context.clearCookies()
  await page.goto('/login')
  await page.getByLabel('E-mail address').fill(account.email)
  await page.getByLabel('Password', { exact: true }).fill(account.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page).toHaveURL('/account')
})

test('U8 a user renames and removes a passkey, which then no longer signs in', async ({
  page,
  context,
  account,
}) => {
  const authenticator = await addAuthenticator(page)
  await account.signIn(page)
  await addPasskey(page, authenticator, 'Laptop')
  const row = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Laptop' }) })
  await row.locator('summary', { hasText: 'Rename' }).click()
  await expectSound(page, 'Security')
  await row.getByLabel('New name').fill('Work')
  await row.getByRole('button', { name: 'Save name' }).click()
  await expect(page.getByRole('heading', { name: 'Work' })).toBeVisible()

  await confirm(page, { of: 'Work', button: 'Remove' })
  await expect(page.getByText('The passkey “Work” has been removed.')).toBeVisible()
  await expect(page.getByText('You have no passkeys.')).toBeVisible()

  await context.clearCookies()
  await withoutAutofill(page)
  await page.goto('/login')
  await authenticator.setPresent(true)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await expect(page.getByRole('alert')).toContainText('The passkey was not accepted')
  await expectSound(page, 'Error: Sign in')
})

test('U10 a user confirms with a passkey, and a click while the form is sent starts no second passkey request', async ({
  page,
  server,
  account,
}) => {
  const authenticator = await addAuthenticator(page)
  await account.signIn(page)
  await addPasskey(page, authenticator, 'Laptop')
  ageSessions(server)
  await withoutAutofill(page)
  // Counts the passkey requests, and clicks the button again as soon as the form is sent.
  await page.addInitScript(`
    const { get } = CredentialsContainer.prototype
    CredentialsContainer.prototype.get = function (...options) {
      sessionStorage.requests = Number(sessionStorage.requests ?? 0) + 1
      return get.apply(this, options)
    }
    const { submit } = HTMLFormElement.prototype
    HTMLFormElement.prototype.submit = function () {
      submit.call(this)
      const button = [...this.elements].find(({ textContent }) => textContent === 'Use a passkey')
      setTimeout(() => button.click())
    }
  `)
  await page.goto('/account/security')
  await page.getByRole('link', { name: 'Add a passkey' }).click()
  await expectSound(page, 'Confirm it is you')
  await authenticator.setPresent(true)
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await expect(page).toHaveURL('/account/security')
  expect(await page.evaluate('sessionStorage.requests')).toBe('1')
})

test('passkeys of a password manager work if `toJSON` is missing or throws', async ({
  page,
  context,
  account,
}) => {
  const authenticator = await addAuthenticator(page)
  // Like 1Password and Bitwarden: a plain object with the prototype of a credential, so its `toJSON` throws.
  await page.addInitScript(`
    const { create, get } = CredentialsContainer.prototype
    const fields = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle']
    const copy = ({ id, rawId, type, response }) => {
      const own = Object.fromEntries(fields.map((name) => [name, response[name]]))
      return { id, rawId, type, response: own }
    }
    CredentialsContainer.prototype.create = async function (...options) {
      return Object.setPrototypeOf(copy(await create.apply(this, options)), PublicKeyCredential.prototype)
    }
    CredentialsContainer.prototype.get = async function (...options) {
      return copy(await get.apply(this, options))
    }
  `)
  await account.signIn(page)
  await addPasskey(page, authenticator, 'Vault')
  await context.clearCookies()
  await authenticator.setPresent(true)
  await page.goto('/login?next=%2Faccount%2Factivity')
  await expect(page.getByText('Passkey: Vault')).toBeVisible()
})

test('the passkey button works after an autofill that failed, and after a request that was stopped', async ({
  page,
  context,
  account,
}) => {
  const authenticator = await addAuthenticator(page)
  await account.signIn(page)
  await addPasskey(page, authenticator, 'Laptop')
  await context.clearCookies()
  await page.clock.install()
  await page.addInitScript(`
    const { get } = CredentialsContainer.prototype
    CredentialsContainer.prototype.get = async function (options) {
      return options.mediation === 'conditional' ? {} : get.call(this, options)
    }
  `)
  await page.goto('/login')
  await expect(page.getByText('The passkey did not work.')).toBeVisible()

  await page.route('/login/passkey', (route) => route.abort('aborted'), { times: 1 })
  await authenticator.setPresent(true)
  const stopped = page.waitForEvent('requestfailed')
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await stopped
  await page.clock.fastForward(10_000)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await expect(page).toHaveURL('/account')
})

test('a page shows a message if adding or using a passkey fails', async ({ page, context, account }) => {
  const authenticator = await addAuthenticator(page)
  await account.signIn(page)
  await addPasskey(page, authenticator, 'Laptop')
  await authenticator.setPresent(true)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await expect(page.getByText('This device already has a passkey for your account.')).toBeVisible()
  await authenticator.setPresent(false)

  await context.clearCookies()
  await page.goto('/login')
  await authenticator.setVerified(false)
  await authenticator.setPresent(true)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await expect(page.getByText('No passkey was used. Try again when you are ready.')).toBeVisible()
  await expect(page).toHaveURL('/login')
})

test('U13 if the browser does not support passkeys, the security page says so, and the sign-in page has no button for them', async ({
  page,
  account,
}) => {
  await page.addInitScript('delete globalThis.PublicKeyCredential')
  await account.signIn(page)
  await page.goto('/account/security')
  await expect(page.getByText('This browser cannot add passkeys.')).toBeVisible()
  await expect(page.getByText('Add a passkey')).toBeHidden()
  await page.goto('/login')
  await expect(page.getByRole('button', { name: 'passkey' })).toHaveCount(0)
})

test.describe('without script', () => {
  test.use({ javaScriptEnabled: false })

  test('U13 pages show no passkey button', async ({ page, account }) => {
    await page.goto('/login')
    await expect(page.getByRole('button')).toHaveText(['Sign in'])
    await account.signIn(page)
    await page.goto('/account/security')
    await expect(page.getByRole('heading', { name: 'Passkeys' })).toBeVisible()
    await expect(page.getByText('Add a passkey')).toBeHidden()
    // `getByText` ignores `noscript`.
    await expect(page.locator('noscript > .hint')).toBeVisible()
    await page.goto('/confirm')
    await expect(page.getByRole('button', { name: 'passkey' })).toHaveCount(0)
  })
})
