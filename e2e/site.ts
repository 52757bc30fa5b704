import { test as base, expect, type Page } from '@playwright/test'
import Database from 'better-sqlite3'
import { type Server, startServer } from './server.ts'
import { watch } from './watch.ts'

/** A user who has signed up. */
export interface Account {
  readonly name: string
  readonly email: string
  readonly password: string
  /** Signs in the browser of a page, without the form. */
  signIn(page: Page): Promise<void>
}

/** A failure of the database while the server runs. */
export interface Outage {
  begin(): void
  end(): void
}

/**
 * Playwright's `test` with one server for each worker. Relative URLs go to that server. A request of the `page` to another
 * origin, or an error in its console, fails the test.
 */
export const test = base.extend<
  { newAccount(): Promise<Account>; account: Account; outage: Outage },
  { throttle: 'on' | 'off'; host: string; server: Server; accountNumbers: Iterator<number, never> }
>({
  // Off, because all tests of a worker share one IP address, and so one rate limit.
  throttle: ['off', { scope: 'worker', option: true }],
  // An option, because the passkey tests need `localhost`: browsers do not support passkeys at an IP address.
  host: ['127.0.0.1', { scope: 'worker', option: true }],
  server: [
    async ({ throttle, host }, use) => {
      const server = await startServer({ THROTTLE: throttle })
      await use({ ...server, url: server.url.replace('127.0.0.1', host) })
      await server.stop()
    },
    { scope: 'worker' },
  ],
  baseURL: ({ server }, use) => use(server.url),

  page: async ({ page, server }, use) => {
    const complaints = watch(page, server.url)
    await use(page)
    expect(complaints, 'browser errors').toEqual([])
  },

  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the dependencies of a fixture from this pattern.
  accountNumbers: [({}, use) => use(countFrom(1)), { scope: 'worker' }],
  newAccount: ({ request, accountNumbers }, use) =>
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
      return { name, email, password, signIn }
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
