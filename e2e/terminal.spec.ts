import { spawnSync } from 'node:child_process'
import type { Page } from '@playwright/test'
import { installDebianPackage, which } from './debian-package.ts'
import { expect, test } from './site.ts'

test.beforeAll(() => {
  if (which('curl')) return
  test.setTimeout(10 * 60_000)
  installDebianPackage('curl')
})

test('the commands of the home page work as pasted, in two shells', async ({ page, request, account }) => {
  await page.goto('/')
  const pasted = await terminals(page)
  const basic = Buffer.from(`${account.email}:${account.password}`).toString('base64')
  const issued = await request.post('/login', { headers: { Authorization: `Basic ${basic}` } })
  const { value: token } = await issued.json()

  for (const shell of ['bash', 'sh']) {
    const [anonymous, user, ...more] = run(shell, pasted, { TOKEN: token })
    expect(anonymous).toContain('HTTP/1.1 401 Unauthorized')
    expect(anonymous).toMatch(/^WWW-Authenticate: Bearer/im)
    expect(user).toContain('HTTP/1.1 200 OK')
    expect(user).toContain(`"email":"${account.email}"`)
    expect(user).not.toMatch(/hash/i)
    expect(more).toEqual([])
  }
})

/** The commands in each terminal box on a page. */
function terminals(page: Page): Promise<string[]> {
  return page.locator('.terminal code').allTextContents()
}

/** Pastes the commands into one shell, in order. Returns the output of each. */
function run(shell: string, pasted: string[], variables: Record<string, string>): string[] {
  const mark = '-- next --'
  const input = pasted.map((lines) => `${lines}\n`).join(`echo '${mark}'\n`)
  const { stdout, error } = spawnSync(shell, {
    input,
    encoding: 'utf8',
    // Excludes the proxy variables of the developer.
    env: { PATH: process.env.PATH, ...variables },
  })
  if (error) throw error
  return stdout.split(mark).map((output) => output.trim())
}
