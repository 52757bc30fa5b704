import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { Browser } from '../src/auth/testing/browser.ts'
import { blocksOf, programOf, sectionOf } from './testing/package-readme.ts'
import { example, freePort, startProgram } from './testing/program.ts'

const right = { email: 'ada@example.org', password: 'analytical-engine' }

function assertLeadsTo(response: Response, location: string) {
  assert.ok(response.status === 302 || response.status === 303)
  assert.equal(response.headers.get('location'), location)
}

describe('examples/website.ts', () => {
  const program = example('website.ts')

  test('signs in with the form, shows the account, and signs out', async () => {
    const browser = new Browser(program.url)
    assertLeadsTo(await browser.get('/'), '/login')
    assert.match(await (await browser.get('/login')).text(), /<form method="post">/)

    assertLeadsTo(await browser.post('/login', right), '/')
    const account = await browser.get('/')
    assert.equal(account.status, 200)
    assert.match(await account.text(), /Hello, ada@example\.org!/)

    const { cookie } = browser
    assertLeadsTo(await browser.post('/logout'), '/login')
    assert.equal(browser.cookie, '')
    browser.cookie = cookie
    assertLeadsTo(await browser.get('/'), '/login')
  })

  test('shows the form again with an error for wrong credentials, and starts no session', async () => {
    for (const form of [
      { ...right, password: 'wrong' },
      { ...right, email: 'eve@example.org' },
      {},
    ] as Record<string, string>[]) {
      const browser = new Browser(program.url)
      const response = await browser.post('/login', form)

      assert.equal(response.status, 401)
      assert.match(await response.text(), /<form.*The address or the password is wrong/)
      assert.equal(browser.cookie, '')
      assertLeadsTo(await browser.get('/'), '/login')
    }
  })
})

describe('examples/website.ts with the additions from the README', () => {
  test('signs up, shares sessions between two processes, and rejects wrong fields', async (t) => {
    const [route = ''] = blocksOf(sectionOf('### Sign up'))
    const [store = ''] = blocksOf(sectionOf('## Sessions'))
    const program = (await programOf('website.ts'))
      .replace('const app = new Koa()', `${route}\n$&`)
      .replace(/^const sessions = [\s\S]*?\n}\n/m, () => store)
    const folder = await mkdtemp(join(tmpdir(), 'koa-authenticators-'))
    t.after(() => rm(folder, { recursive: true }))
    const url = await run(t, program, join(folder, 'website.sqlite'))
    const browser = new Browser(url)
    const second = new Browser(await run(t, program, join(folder, 'website.sqlite')))
    const user = { email: '<b>@example.org', password: 'difference-engine' }

    assertLeadsTo(await browser.post('/users', user), '/')
    second.cookie = browser.cookie
    assert.match(await (await second.get('/')).text(), /Hello, &#60;b&#62;@example\.org!/)
    await second.post('/logout')
    assertLeadsTo(await browser.get('/'), '/login')
    assertLeadsTo(await browser.post('/login', user), '/')
    for (const [fields, status] of [
      [{}, 409],
      [{ email: 'example.org' }, 400],
      [{ email: 'eve@example.org', password: 'seven77' }, 400],
      [{ email: 'eve@example.org', password: 'a'.repeat(73) }, 400],
    ] as const) {
      const visitor = new Browser(url)
      assert.equal((await visitor.post('/users', { ...user, ...fields })).status, status)
      assert.equal(visitor.cookie, '')
    }
  })
})

/** Runs a program until the end of the test, and returns its URL. */
async function run(t: TestContext, source: string, database: string): Promise<string> {
  const options = ['--conditions=@koa-authenticators/source', ...freePort]
  const { url, stop } = await startProgram([...options, '--input-type=module-typescript', '--eval', source], {
    DATABASE: database,
  })
  t.after(stop)
  return url
}
