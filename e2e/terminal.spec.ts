import { spawnSync } from 'node:child_process'
import type { Page } from '@playwright/test'
import { installDebianPackage, which } from './debian-package.ts'
import { expect, test } from './site.ts'

test.beforeAll(() => {
  if (which('curl')) return
  test.setTimeout(10 * 60_000)
  installDebianPackage('curl')
})

test('the lines of the home page work as pasted from top to bottom, and once more in another shell', async ({
  page,
}) => {
  await page.goto('/')
  const pasted = await terminals(page)

  for (const { shell, created } of [
    { shell: 'bash', created: 'HTTP/1.1 201 Created' },
    { shell: 'sh', created: 'HTTP/1.1 409 Conflict' },
  ]) {
    const [stranger, user, token, bearer, jwt, checked, door, ...more] = run(shell, pasted)
    expect(stranger).toContain('HTTP/1.1 401 Unauthorized')
    expect(stranger).toMatch(/^WWW-Authenticate: Bearer/im)
    expect(user).toContain(created)
    expect(user).not.toMatch(/hash/i)
    expect(token).toMatch(/^kauth_[\w-]{49}$/)
    expect(bearer).toContain('HTTP/1.1 200 OK')
    expect(bearer).toContain('"email":"ada@example.com"')
    expect(jwt).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
    expect(checked).toContain('HTTP/1.1 200 OK')
    expect(checked).toMatch(/Content-Length: 0/i)
    expect(door).toContain('HTTP/1.1 200 OK')
    expect(door).toContain('"as":"User"')
    expect(more).toEqual([])
  }
})

test('the lines of the account page work as pasted, once curl has been told the password', async ({
  page,
  account,
}) => {
  await account.signIn(page)
  await page.goto('/account')
  // At a terminal, curl would ask for it.
  const told = (lines: string) => lines.replace(account.email, `$&:'${account.password}'`)
  const [token, me] = run('sh', (await terminals(page)).map(told))
  expect(token).toBe('')
  expect(me).toContain('HTTP/1.1 200 OK')
  expect(me).toContain(`"email":"${account.email}"`)
})

/** The lines of each terminal on a page. */
function terminals(page: Page): Promise<string[]> {
  return page.locator('.terminal code').allTextContents()
}

/** What each of the pieces prints when they are pasted into one shell, one after the other. */
function run(shell: string, pasted: string[]): string[] {
  const mark = '-- next --'
  const input = pasted.map((lines) => `${lines}\n`).join(`echo '${mark}'\n`)
  const { stdout, error } = spawnSync(shell, {
    input,
    encoding: 'utf8',
    // Without the caller's proxy and curl configuration.
    env: { PATH: process.env.PATH },
  })
  if (error) throw error
  return stdout.split(mark).map((output) => output.trim())
}
