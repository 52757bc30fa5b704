import { test as base, expect, type Page } from '@playwright/test'
import Database from 'better-sqlite3'
import { type Server, startServer } from './server.ts'
import { watch } from './watch.ts'

/** A user who has signed up. */
export interface Account {
  readonly name: string
  readonly email: string
  readonly password: string
  readonly server: Server
  /** Signs in the browser of a page, without the form. */
  signIn(page: Page): Promise<void>
}

/** A failure of the database while the server runs. */
export interface Outage {
  begin(): void
  end(): void
}

/** The environment variables of a server. */
type Variables = Record<string, string>

/**
 * Playwright's `test` with a server. Tests of a worker with the same `variables` share a server. Relative URLs go to the server. A
 * request of the `page` to another origin, or an error in its console, fails the test.
 */
export const test = base.extend<
  {
    variables: Variables
    host: string
    server: Server
    newAccount(): Promise<Account>
    account: Account
    outage: Outage
  },
  { serverWith(variables: Variables): Promise<Server>; accountNumbers: Iterator<number, never> }
>({
  // Without a throttle, because all tests share one IP address, and so one rate limit.
  variables: [{ THROTTLE: 'off' }, { option: true }],
  // An option, because the passkey tests need `localhost`: browsers do not support passkeys at an IP address.
  host: ['127.0.0.1', { option: true }],
  serverWith: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the dependencies of a fixture from this pattern.
    async ({}, use) => {
      const servers = new Map<string, Promise<Server>>()
      await use((variables) => {
        const key = JSON.stringify(variables)
        const server = servers.get(key) ?? startServer(variables)
        servers.set(key, server)
        return server
      })
      for (const server of servers.values()) await (await server).stop()
    },
    { scope: 'worker' },
  ],
  server: async ({ serverWith, variables, host }, use) => {
    const server = await serverWith(variables)
    await use({ ...server, url: server.url.replace('127.0.0.1', host) })
  },
  baseURL: ({ server }, use) => use(server.url),

  page: async ({ page, server }, use) => {
    const complaints = watch(page, server.url)
    await use(page)
    expect(complaints, 'browser errors').toEqual([])
  },

  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the dependencies of a fixture from this pattern.
  accountNumbers: [({}, use) => use(countFrom(1)), { scope: 'worker' }],
  newAccount: ({ request, server, accountNumbers }, use) =>
    use(async () => {
      const number = accountNumbers.next().value
      const name = `Grace ${number}`
      const email = `grace${number}@example.com`
      const password = 'a nanosecond of wire'
      const data = { name, email, password, confirmPassword: password }
      expect((await request.post('/users', { data })).status()).toBe(201)
      const signIn = async (page: Page) => {
        const response = await page.request.post('/login', { data: { username: email, password } })
        expect(response.status()).toBe(200)
      }
      return { name, email, password, server, signIn }
    }),
  account: async ({ newAccount }, use) => use(await newAccount()),

  outage: async ({ server }, use) => {
    const database = new Database(server.database)
    let isDown = false
    const outage: Outage = {
      begin() {
        database.exec('alter table sessions rename to lost_sessions; alter table users rename to lost_users')
        isDown = true
      },
      end() {
        if (!isDown) return
        database.exec('alter table lost_users rename to users; alter table lost_sessions rename to sessions')
        isDown = false
      },
    }
    await use(outage)
    outage.end()
    database.close()
  },
})

export { expect }

function* countFrom(first: number): Generator<number, never> {
  for (let number = first; ; number++) yield number
}
