import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { basic, bearer } from './testing/headers.ts'
import { example, freePort } from './testing/program.ts'

describe('the program of the README', () => {
  const program = example('readme.ts', { args: freePort })

  test('answers its token with the name, as a plain string', async () => {
    const response = await fetch(`${program.url}/me`, { headers: bearer('analytical-engine') })

    assert.equal(response.status, 200)
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain\b/)
    assert.equal(await response.text(), 'Ada')
  })

  test('refuses another token, another scheme and none', async () => {
    for (const headers of [
      bearer('difference-engine'),
      bearer(''),
      { authorization: 'Basic YWRhOg==' },
      {},
    ]) {
      const response = await fetch(`${program.url}/me`, { headers })

      assert.equal(response.status, 401)
      assert.match(response.headers.get('www-authenticate') ?? '', /^Bearer realm="restricted"/)
      assert.doesNotMatch(await response.text(), /Ada|User/)
    }
  })

  for (const readme of ['README.md'])
    test(`is the one in ${readme}, byte for byte`, () => assertShown('readme.ts', readme))
})

describe('the program of the package’s README on MikroORM', () => {
  const program = example('readme-models.ts', { args: freePort })

  test('gives a token for the password, which is good until it is deleted, and shows no hash', async () => {
    const logIn = (name: string, password: string) =>
      fetch(`${program.url}/login`, { method: 'POST', headers: basic(name, password) })
    const me = (token: string) => fetch(`${program.url}/me`, { headers: bearer(token) })

    assert.equal((await logIn('ada@example.org', 'difference-engine')).status, 401)
    assert.equal((await logIn('eve@example.org', 'analytical-engine')).status, 401)
    const { token } = (await (await logIn('ada@example.org', 'analytical-engine')).json()) as {
      token: string
    }

    const user = (await (await me(token)).json()) as object
    assert.deepEqual(Object.keys(user), ['id', 'email'])
    assert.equal((await me('difference-engine')).status, 401)

    const deleted = await fetch(`${program.url}/token`, { method: 'DELETE', headers: bearer(token) })
    assert.equal(deleted.status, 204)
    assert.equal((await me(token)).status, 401)
  })

  test('is the one in src/auth/README.md, byte for byte', () =>
    assertShown('readme-models.ts', 'src/auth/README.md'))
})

async function assertShown(example: string, readme: string): Promise<void> {
  const folder = join(import.meta.dirname, '..')
  const source = await readFile(join(folder, 'examples', example), 'utf8')
  const text = await readFile(join(folder, readme), 'utf8')
  assert.ok(text.includes(`\n\`\`\`ts\n${source}\`\`\`\n`))
}
