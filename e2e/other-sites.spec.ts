import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from '@playwright/test'
import { test as base, expect } from './site.ts'
import { expectSound } from './soundness.ts'

/** A server of another site. It responds to every request with `html`. */
interface OtherSite {
  /**
   * Two URLs of the server: on another site, and on another port of our host. A browser ignores the port when it compares sites.
   * Therefore requests from the other port have the session cookie, despite `SameSite=Lax`.
   */
  readonly urls: readonly [otherSite: string, otherPort: string]
  html: string
}

const test = base.extend<{ otherSite: OtherSite }>({
  // Replaces the usual fixture, which fails on requests to other origins.
  page: async ({ context }, use) => use(await context.newPage()),

  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the dependencies of a fixture from this pattern.
  otherSite: async ({}, use) => {
    const server = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html')
      response.end(otherSite.html)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const otherSite: OtherSite = {
      urls: [`http://localhost:${port}/`, `http://127.0.0.1:${port}/`],
      html: '',
    }
    await use(otherSite)
    server.closeAllConnections()
    server.close()
  },
})

test('G2 a form on another site or port cannot sign a visitor in', async ({
  page,
  server,
  otherSite,
  account,
}) => {
  otherSite.html = form(`${server.url}/login`, { username: account.email, password: account.password })
  for (const url of otherSite.urls) {
    await sendForm(page, url)
    await expect(page.getByText('This request came from another site, so it was rejected.')).toBeVisible()
    await page.goto('/')
    await expect(page.locator('body')).toHaveAttribute('data-user', 'visitor')
  }
})

test('G1 a form on another site or port cannot sign a user out or switch the account', async ({
  page,
  server,
  otherSite,
  account,
  newAccount,
}) => {
  const other = await newAccount()
  await account.signIn(page)
  for (const html of [
    form(`${server.url}/logout`, {}),
    form(`${server.url}/login`, { username: other.email, password: other.password }),
  ]) {
    otherSite.html = html
    for (const url of otherSite.urls) {
      await sendForm(page, url)
      await page.goto('/account')
      await expect(page.getByRole('main')).toContainText(account.email)
    }
  }
})

test('G6 L6 a page on another site or port cannot read or frame the site, or sign the user out', async ({
  page,
  server,
  otherSite,
  account,
}) => {
  await account.signIn(page)
  for (const url of otherSite.urls) {
    for (const path of ['/', '/account', '/nowhere', '/style.css']) {
      otherSite.html = `<iframe src="${server.url}${path}"></iframe>`
      const complaint = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'))
      await page.goto(url)
      expect((await complaint).text()).toContain(`"frame-ancestors 'none'"`)
    }
    const read = `fetch('${server.url}/me', { credentials: 'include' })`
    await expect(page.evaluate(read)).rejects.toThrow('Failed to fetch')
    const write = `fetch('${server.url}/logout', { method: 'POST', mode: 'no-cors', credentials: 'include' })`
    await expect(page.evaluate(write)).rejects.toThrow('Failed to fetch')

    await page.goto('/account')
    await expect(page.getByRole('main')).toContainText(account.email)
  }
})

test('the 403 page for a cross-site form is accessible', async ({ page, server, otherSite }) => {
  otherSite.html = form(`${server.url}/logout`, {})
  await sendForm(page, otherSite.urls[0])
  await expectSound(page, 'Error: Request from another site')
})

function form(action: string, fields: Record<string, string>): string {
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
  )
  return `<form method="post" action="${action}">${inputs.join('')}<button>Win a prize</button></form>`
}

/** Sends the form of the other site, and expects our site to reject it. */
async function sendForm(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.getByRole('button').click()
  await expect(page).toHaveTitle('Error: Request from another site – koa-authenticators')
}
