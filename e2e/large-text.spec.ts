import { signUp } from './forms.ts'
import { expect, test } from './site.ts'
import { expectToFit } from './soundness.ts'

// WCAG 2.2, 1.4.4
test('pages fit at twice the font size', async ({ page, account }) => {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Page.setFontSizes', { fontSizes: { standard: 32 } })
  await page.goto('/')
  expect(await page.evaluate('getComputedStyle(document.documentElement).fontSize')).toBe('32px')
  await expectToFit(page, 1280)
  await expectToFit(page, 360)
  const name = "document.querySelector('.wordmark span').clientWidth"
  expect(await page.evaluate<number>(name), 'the name of the site is visible').toBeGreaterThan(100)

  await page.goto('/signup')
  await expectToFit(page, 1280)
  await signUp(page, { name: '', email: '', password: '', confirmation: 'x' })
  await expect(page.getByRole('alert')).toBeVisible()
  await expectToFit(page, 1280)

  await account.signIn(page)
  for (const path of ['/', '/account', '/account/security', '/confirm', '/nowhere']) {
    await page.goto(path)
    await expectToFit(page, 1280)
  }

  await page.goto('/account/security/totp')
  await expectToFit(page, 1280)
  await page.getByRole('button', { name: 'I have an app' }).click()
  await expectToFit(page, 1280)

  // With every question of the page open.
  for (const path of ['/account/sessions', '/account/security', '/account/passkeys']) {
    await page.goto(path)
    await page.evaluate("for (const each of document.querySelectorAll('main details')) each.open = true")
    await expectToFit(page, 360)
  }
})
