import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { bearer } from './testing/headers.ts'
import { example, freePort } from './testing/program.ts'

describe('the program of the README', () => {
  const program = example('readme.ts', { args: freePort })

  test('returns the name of the user of the token, as plain text', async () => {
    const response = await fetch(`${program.url}/me`, { headers: bearer('analytical-engine') })

    assert.equal(response.status, 200)
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain\b/)
    assert.equal(await response.text(), 'Ada')
  })

  test('rejects another token, another scheme and no header', async () => {
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

  test('equals examples/readme.ts, byte for byte', async () => {
    const folder = join(import.meta.dirname, '..')
    const source = await readFile(join(folder, 'examples/readme.ts'), 'utf8')
    const text = await readFile(join(folder, 'README.md'), 'utf8')
    assert.ok(text.includes(`\n\`\`\`ts\n${source}\`\`\`\n`))
  })
})
