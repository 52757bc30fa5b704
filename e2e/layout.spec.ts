import { expect, type Page } from '@playwright/test'
import Database from 'better-sqlite3'
import { turnOnApp } from './authenticator-app.ts'
import { enterCode, signIn } from './forms.ts'
import type { Server } from './server.ts'
import { type Account, test } from './site.ts'

/** Gives an account an age at which it no longer gets the first steps. */
function makeOlder(server: Server, { email }: Account): void {
  const database = new Database(server.database)
  database.prepare('update users set created_at = 0 where email = ?').run(email)
  database.close()
}

/** Evaluates an expression about the first `element` of a selector in the browser. */
function read(page: Page, selector: string, expression: string): Promise<unknown> {
  return page.evaluate(`((element) => ${expression})(document.querySelector('${selector}'))`)
}

test('a recovery code is on one line on a phone', async ({ page, account }) => {
  await page.setViewportSize({ width: 320, height: 640 })
  await turnOnApp(page, account)
  await page.request.post('/account/security/recovery-codes', { form: {} })
  await page.goto('/account/security/recovery-codes')
  const codes = page.getByLabel('Your ten codes', { exact: true })
  expect(await read(page, '#codes', 'element.scrollWidth <= element.clientWidth')).toBe(true)
  await expect(codes).toHaveCSS('white-space', 'pre')
})

test('a password field has room for a password at twice the font size', async ({ page }) => {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Page.setFontSizes', { fontSizes: { standard: 32 } })
  await page.setViewportSize({ width: 360, height: 640 })
  await page.goto('/login')
  await expect(page.getByRole('button', { name: 'Show password' })).toBeVisible()
  expect(Number(await read(page, '#password', 'element.offsetWidth'))).toBeGreaterThan(200)
})

test('a success is an alert with the focus', async ({ page, account }) => {
  await account.signIn(page)
  await page.goto('/account')
  await page.getByRole('button', { name: 'Save name' }).click()
  await expect(page.getByRole('alert')).toBeFocused()
  await expect(page.getByRole('alert')).toHaveText('Your name has been changed.')
})

test('the name of the site fits on a phone', async ({ page, account }) => {
  await page.setViewportSize({ width: 360, height: 640 })
  await page.goto('/')
  expect(await read(page, '.wordmark span', 'element.scrollWidth <= element.clientWidth')).toBe(true)
  await account.signIn(page)
  await page.goto('/')
  expect(await read(page, '.wordmark span', 'element.scrollWidth <= element.clientWidth')).toBe(true)
})

test('the set-up has two steps, and forced colours show the current one', async ({ page, account }) => {
  await page.emulateMedia({ forcedColors: 'active' })
  await account.signIn(page)
  await page.goto('/account/security/totp')
  await page.getByRole('button', { name: 'I have an app' }).click()
  const steps = page.locator('.progress li')
  await expect(steps).toHaveText([/Get an app/, /Scan and enter code/])
  await enterCode(page, '000000')
  await expect(steps.nth(1)).toHaveAttribute('aria-current', 'step')
  await expect(steps.nth(0).locator('b')).toHaveCSS('border-width', '1px')
  await expect(steps.nth(1).locator('b')).toHaveCSS('border-width', '3px')
})

test('introductions have one gap below', async ({ page, account }) => {
  await account.signIn(page)
  const gaps: number[] = []
  for (const path of ['/account/security', '/account/sessions', '/account/activity']) {
    await page.goto(path)
    const gap =
      'element.nextElementSibling.getBoundingClientRect().top - element.querySelector("p").getBoundingClientRect().bottom'
    gaps.push(Math.round(Number(await read(page, '.head', gap))))
  }
  expect(new Set(gaps)).toEqual(new Set(gaps.slice(0, 1)))
})

test('an outage page offers to try again', async ({ page, account, outage }) => {
  await account.signIn(page)
  outage.begin()
  await page.goto('/account')
  await expect(page).toHaveTitle(/^Error: /)
  outage.end()
  await page.getByRole('link', { name: 'Try again' }).click()
  await expect(page).toHaveTitle('Profile – koa-authenticators')
})

test.describe('with passkeys', () => {
  test.use({ host: 'localhost' })

  test('pages keep their layout while they load', async ({ page, server, account }) => {
    await page.addInitScript(`globalThis.shift = 0
      new PerformanceObserver((list) => {
        for (const { value } of list.getEntries()) shift += value
      }).observe({ type: 'layout-shift', buffered: true })`)
    const expectStill = async (path: string) => {
      await page.waitForLoadState('networkidle')
      expect(await page.evaluate<number>('shift'), path).toBeLessThan(0.01)
    }
    for (const path of ['/', '/signup', '/login']) {
      await page.goto(path)
      await expectStill(path)
    }
    makeOlder(server, account)
    await signIn(page, account)
    await expect(page.getByText('Next time, skip the password.')).toBeVisible()
    await expectStill('/account')
    for (const path of ['/account/security', '/account/sessions', '/account/activity', '/styleguide']) {
      await page.goto(path)
      await expectStill(path)
    }
  })
})
