import type { Page } from '@playwright/test'
import { type Account, expect, test } from './site.ts'

test('signing out ends the session on the server, not only in the browser', async ({
  page,
  context,
  account,
}) => {
  await account.signIn(page)
  const stolen = await context.cookies()
  await page.goto('/account')
  await page.getByRole('button', { name: 'Sign out' }).click()

  await expect(page).toHaveURL('/')
  await expect(page.getByText('Nobody yet')).toBeVisible()
  expect((await context.cookies()).filter(({ name }) => name === 'session')).toEqual([])

  await context.addCookies(stolen)
  await page.goto('/account')
  await expect(page).toHaveURL('/login?next=%2Faccount')
})

test('the back button shows nothing private after signing out', async ({ page, account }) => {
  await leave(page, account)
  await page.goBack()
  await showsNothingPrivate(page, account)
})

// Playwright switches off the cache in which a browser keeps whole pages for its back button; people have it on.
test.describe('with the cache of whole pages', () => {
  test.use({ ignoreDefaultArgs: ['--disable-back-forward-cache'] })

  test('the back button of a browser that keeps pages alive shows nothing private either', async ({
    page,
    account,
  }) => {
    await leave(page, account)
    await page.evaluate('history.back()')
    await showsNothingPrivate(page, account)
  })
})

async function leave(page: Page, account: Account) {
  await account.signIn(page)
  await page.goto('/account')
  await expect(page.getByRole('main')).toContainText(account.email)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByText('Nobody yet')).toBeVisible()
}

async function showsNothingPrivate(page: Page, { name, email }: Account) {
  await expect(page).toHaveURL('/login?next=%2Faccount')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sign in')
  const html = await page.content()
  expect(html).not.toContain(name)
  expect(html).not.toContain(email)
}
