import type { Page } from '@playwright/test'
import { ageSessions, turnOnApp } from './authenticator-app.ts'
import { addPasskey } from './forms.ts'
import { expect, test } from './site.ts'
import { addAuthenticator } from './virtual-authenticator.ts'

test.use({ host: 'localhost' })

const pages = [
  '/account',
  '/account/security',
  '/account/security/totp',
  '/account/sessions',
  '/account/tokens',
  '/account/activity',
  '/account/password',
  '/account/email',
  '/account/close',
  '/confirm',
]

test('no two controls of an account page overlap, at any width, with a fresh and with an old session', async ({
  page,
  server,
  account,
}) => {
  const authenticator = await addAuthenticator(page)
  await account.signIn(page)
  await expectNoOverlaps(page, '/account/security/totp')
  const { app } = await turnOnApp(page, account)
  const elsewhere = { username: account.email, password: account.password, code: app.nextCode() }
  await addPasskey(page, authenticator, 'N'.repeat(100))
  for (const name of ['Deploy', 'T'.repeat(100)])
    expect((await page.request.post('/account/tokens', { data: { name } })).status()).toBe(201)
  const { status } = await fetch(`${server.url}/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(elsewhere),
  })
  expect(status).toBe(200)
  for (const path of pages) await expectNoOverlaps(page, path)
  ageSessions(server)
  for (const path of pages) await expectNoOverlaps(page, path)
})

async function expectNoOverlaps(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await page.waitForLoadState()
  for (const width of [360, 768, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    expect(await page.evaluate<string[]>(findOverlaps), `${path} at ${width} px`).toEqual([])
  }
}

/** Compares all visible controls, first with every `details` closed, then with each one open. The open menu covers the page. */
const findOverlaps = `(() => {
  const found = []
  const details = [...document.querySelectorAll('details')]
  const check = () => {
    const controls = [...document.querySelectorAll('a, button, summary, input, select, textarea')]
      .filter((element) => element.checkVisibility({ visibilityProperty: true }) && element.type !== 'hidden')
      .flatMap((element) => [...element.getClientRects()].map((box) => ({ element, box })))
    const menuOf = ({ element }) => element.closest('.menu > div')
    const nameOf = ({ element }) => element.textContent.trim() || element.name
    controls.forEach((one, index) => {
      for (const other of controls.slice(index + 1)) {
        const width = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left)
        const height = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top)
        if (one.element !== other.element && menuOf(one) === menuOf(other) && width > 0.5 && height > 0.5)
          found.push(nameOf(one) + ' / ' + nameOf(other))
      }
    })
  }
  check()
  for (const each of details) {
    each.open = true
    check()
    each.open = false
  }
  return found
})()`
