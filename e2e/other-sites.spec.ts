import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test as base, expect } from './site.ts'
import { expectSound } from './soundness.ts'

/** A server of another site. It responds to every request with `html`. */
interface OtherSite {
  readonly port: number
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
    const otherSite = { port: (server.address() as AddressInfo).port, html: '' }
    await use(otherSite)
    server.closeAllConnections()
    server.close()
  },
})

// A browser ignores the port when it compares sites. Therefore requests from another port of our host have the session cookie, despite
// `SameSite=Lax`.
const otherSites = [
  { name: 'another site', host: 'localhost' },
  { name: 'another port of our host', host: '127.0.0.1' },
]

for (const { name, host } of otherSites) {
  test(`G2 a form on ${name} cannot sign a visitor in`, async ({ page, server, otherSite, account }) => {
    otherSite.html = form(`${server.url}/login`, { username: account.email, password: account.password })
    await page.goto(`http://${host}:${otherSite.port}/`)
    await page.getByRole('button').click()

    await expect(page).toHaveTitle('Error: Request from another site – koa-authenticators')
    await expect(page.getByText('This request came from another site, so it was rejected.')).toBeVisible()
    await page.goto('/')
    await expect(page.getByText('Not signed in')).toBeVisible()
  })

  test(`G1 a form on ${name} cannot sign a user out or switch the account`, async ({
    page,
    server,
    otherSite,
    account,
    newAccount,
  }) => {
    const other = await newAccount()
    await account.signIn(page)
    const forms = [
      form(`${server.url}/logout`, {}),
      form(`${server.url}/login`, { username: other.email, password: other.password }),
    ]
    for (const html of forms) {
      otherSite.html = html
      await page.goto(`http://${host}:${otherSite.port}/`)
      await page.getByRole('button').click()
      await expect(page).toHaveTitle('Error: Request from another site – koa-authenticators')
      await page.goto('/account')
      await expect(page.getByRole('main')).toContainText(account.email)
    }
  })

  test(`G2 a form on ${name} creates no account`, async ({ page, server, otherSite, request }) => {
    const email = `forged.at.${host}@example.com`
    const password = 'chosen by another site'
    otherSite.html = form(`${server.url}/users`, { name: 'F', email, password, confirmPassword: password })
    await page.goto(`http://${host}:${otherSite.port}/`)
    await page.getByRole('button').click()

    await expect(page).toHaveTitle('Error: Request from another site – koa-authenticators')
    const response = await request.post('/login', { data: { username: email, password } })
    expect(response.status()).toBe(401)
  })

  test(`G6 L6 a page on ${name} cannot read or frame the site, or sign the user out`, async ({
    page,
    server,
    otherSite,
    account,
  }) => {
    await account.signIn(page)
    for (const path of ['/', '/account', '/nowhere', '/style.css']) {
      otherSite.html = `<iframe src="${server.url}${path}"></iframe>`
      const complaint = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'))
      await page.goto(`http://${host}:${otherSite.port}/`)
      expect((await complaint).text()).toContain(`"frame-ancestors 'none'"`)
    }
    const read = `fetch('${server.url}/me', { credentials: 'include' })`
    await expect(page.evaluate(read)).rejects.toThrow('Failed to fetch')
    const write = `fetch('${server.url}/logout', { method: 'POST', mode: 'no-cors', credentials: 'include' })`
    await expect(page.evaluate(write)).rejects.toThrow('Failed to fetch')

    await page.goto('/account')
    await expect(page.getByRole('main')).toContainText(account.email)
  })
}

test('the 403 page for a cross-site form is accessible', async ({ page, server, otherSite }) => {
  otherSite.html = form(`${server.url}/logout`, {})
  await page.goto(`http://localhost:${otherSite.port}/`)
  await page.getByRole('button').click()
  await expectSound(page, 'Error: Request from another site')
})

function form(action: string, fields: Record<string, string>): string {
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
  )
  return `<form method="post" action="${action}">${inputs.join('')}<button>Win a prize</button></form>`
}
