import {
  AuthenticatorApp,
  ageSessions,
  endPendingSignIns,
  scanQrCode,
  turnOnApp,
} from './authenticator-app.ts'
import { confirm, enterCode, signIn, storeCodes } from './forms.ts'
import { expect, test } from './site.ts'

test.describe('with script', () => {
  test.use({ permissions: ['clipboard-read', 'clipboard-write'] })

  test('a user sets up an authenticator app, and saves the recovery codes', async ({ page, account }) => {
    await account.signIn(page)
    await page.goto('/account/security')
    await page.getByRole('link', { name: 'Set up authenticator app' }).click()
    await page.getByRole('button', { name: 'I have an app' }).click()

    await page.locator('summary', { hasText: 'scan the code?' }).click()
    const key = await page.getByLabel('Key', { exact: true }).inputValue()
    expect(key).toMatch(/^(?:[A-Z2-7]{4} ){7}[A-Z2-7]{4}$/)
    await page.getByRole('button', { name: 'Copy: Key' }).click()
    const copied = await page.evaluate('navigator.clipboard.readText()')
    expect(copied).toBe(key.replaceAll(' ', ''))
    for (const [colorScheme, forcedColors] of [
      ['light', 'none'],
      ['dark', 'none'],
      ['dark', 'active'],
    ] as const) {
      await page.emulateMedia({ colorScheme, forcedColors })
      const uri = new URL(await scanQrCode(page))
      expect(uri.pathname).toBe(`/koa-authenticators:${encodeURIComponent(account.email)}`)
      expect(uri.searchParams.get('secret')).toBe(copied)
    }

    await page.reload()
    await enterCode(page, '000000')
    await expect(page).toHaveTitle('Error: Set up an authenticator app – koa-authenticators')
    await expect(page.getByRole('alert')).toBeFocused()
    await page.locator('summary', { hasText: 'scan the code?' }).click()
    await expect(page.getByLabel('Key', { exact: true })).toHaveValue(key)

    await enterCode(page, new AuthenticatorApp(key, account).nextCode())
    await expect(page).toHaveURL('/account/security/recovery-codes')
    await expect(page.getByText('The authenticator app is on.')).toBeVisible()
    const codes = await page.getByLabel('Your ten codes', { exact: true }).inputValue()
    expect(codes).toMatch(/^(?:(?:[A-Z2-7]{4}-){5}[A-Z2-7]{4}\n?){10}$/)
    await page.getByRole('button', { name: 'Copy: Your ten codes' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(codes)

    await page.getByRole('button', { name: 'Done' }).click()
    await expect(page).toHaveURL('/account/security/recovery-codes')
    await storeCodes(page)
    await expect(page.getByText('10 of 10 left')).toBeVisible()
    await page.goBack()
    await expect(page).toHaveURL('/account/security')
  })

  test('the print of the recovery codes shows the site and the account, but no controls of the page', async ({
    page,
    account,
  }) => {
    await turnOnApp(page, account)
    await page.goto('/account/security')
    await confirm(page, { of: 'Recovery codes', button: 'Replace' })
    const codes = page.getByLabel('Your ten codes', { exact: true })
    await page.evaluate('globalThis.print = () => { document.title = "printed" }')
    await page.getByRole('button', { name: 'Print' }).click()
    await expect(page).toHaveTitle('printed')

    await page.emulateMedia({ media: 'print' })
    await expect(codes).toBeVisible()
    await expect(page.getByText(`for koa-authenticators, account ${account.email}`)).toBeVisible()
    for (const hidden of [
      'banner',
      'navigation',
      'contentinfo',
      'link',
      'button',
      'heading',
      'status',
    ] as const)
      await expect(page.getByRole(hidden).filter({ visible: true })).toHaveCount(0)
  })
})

test('a user confirms their identity before setting up or removing an app', async ({
  page,
  server,
  account,
}) => {
  await account.signIn(page)
  ageSessions(server)
  await page.goto('/account/security')
  await page.getByRole('link', { name: 'Set up authenticator app' }).click()
  await page.getByRole('link', { name: 'Cancel' }).click()
  await expect(page).toHaveURL('/account/security')
  await page.getByRole('link', { name: 'Set up authenticator app' }).click()
  await page.getByLabel('Password', { exact: true }).fill(account.password)
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByRole('button', { name: 'I have an app' })).toBeVisible()

  const { app } = await turnOnApp(page, account)
  ageSessions(server)
  await page.goto('/account/security')
  await page.getByRole('link', { name: 'Remove authenticator app' }).click()
  await enterCode(page, '000000')
  await expect(page).toHaveTitle('Error: Confirm it is you – koa-authenticators')
  await enterCode(page, app.nextCode())
  await expect(page.getByText('Thank you. You can continue now.')).toBeVisible()
  // The form is open, because the user has already asked for it.
  await page.getByRole('button', { name: 'Yes, remove' }).click()
  await expect(page.getByText('The authenticator app has been removed.')).toBeVisible()
  await expect(page.getByText('Recovery codes')).toHaveCount(0)
})

test.describe('without script', () => {
  test.use({ javaScriptEnabled: false })

  test('a user sets up an authenticator app', async ({ page, account }) => {
    await account.signIn(page)
    await page.goto('/account/security/totp')
    await page.getByRole('button', { name: 'I have an app' }).click()
    await enterCode(page, '')
    await expect(page.getByRole('alert')).toContainText('Enter the code of the app.')
    await page.locator('summary', { hasText: 'scan the code?' }).click()
    const app = new AuthenticatorApp(await page.getByLabel('Key', { exact: true }).inputValue(), account)
    await enterCode(page, app.nextCode())
    await expect(page.getByLabel('Your ten codes', { exact: true })).toBeVisible()
    await expect(page.getByRole('button')).toHaveText(['Done'])
    await storeCodes(page)
    await expect(page.getByText('10 of 10 left')).toBeVisible()
  })

  test('a user signs in with a recovery code', async ({ page, context, account }) => {
    const { recoveryCodes } = await turnOnApp(page, account)
    await context.clearCookies()
    await page.goto('/login')
    await signIn(page, account)
    await page.getByRole('link', { name: 'Use another account' }).click()
    await expect(page).toHaveURL('/login')
    await signIn(page, account)
    await page.getByRole('link', { name: 'Use a recovery code' }).click()
    await page.getByLabel('Recovery code').fill('AAAA-AAAA-AAAA-AAAA-AAAA-AAAA')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await expect(page).toHaveTitle('Error: Enter a recovery code – koa-authenticators')
    await page
      .getByLabel('Recovery code')
      .fill(recoveryCodes[0]?.toLowerCase().replaceAll('o', '0').replaceAll('i', '1') ?? '')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await expect(page).toHaveURL('/account')
    await expect(
      page.getByText(
        'You have used a recovery code. Codes left: 9. You can replace them on the security page.',
      ),
    ).toBeVisible()
  })

  test('a user who waits too long starts the sign-in again', async ({ page, context, server, account }) => {
    const { app } = await turnOnApp(page, account)
    await context.clearCookies()
    await page.goto('/account/sessions')
    await signIn(page, account)
    endPendingSignIns(server)
    await enterCode(page, app.nextCode())
    await expect(page).toHaveTitle('Sign in – koa-authenticators')
    await expect(page.getByText('Your sign-in has expired. Please start again.')).toBeVisible()
    await signIn(page, account)
    await enterCode(page, app.nextCode())
    await expect(page).toHaveURL('/account/sessions')
  })
})
