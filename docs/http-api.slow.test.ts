import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { startSite } from '../src/testing/site.ts'

const run = promisify(execFile)

describe('docs/http-api.md', () => {
  test('has a curl session that works as pasted', async (t) => {
    const page = await readFile(join(import.meta.dirname, 'http-api.md'), 'utf8')
    const [, session = ''] = /^```sh\n(.*?)^```$/ms.exec(page) ?? []
    const folder = await mkdtemp(join(tmpdir(), 'koa-authenticators-'))
    t.after(() => rm(folder, { recursive: true }))
    const { url } = await startSite(t)

    const script = session.replace(/^curl.*$/gm, "$&\nprintf '\\n----\\n'")
    const { stdout } = await run('sh', ['-c', script.replaceAll('localhost:3000', new URL(url).host)], {
      cwd: folder,
    })

    const [user, me, validated, signedIn, renamed, token, sessions, changed, refused] =
      stdout.split('\n----\n')
    assert.deepEqual(Object.keys(JSON.parse(user ?? '')), ['id', 'name', 'email'])
    assert.equal(me, user)
    assert.match(validated ?? '', /^HTTP\/1\.1 200 OK\r\n/)
    assert.equal(signedIn, user)
    assert.equal(JSON.parse(renamed ?? '').name, 'Grace Hopper')
    assert.match(JSON.parse(token ?? '').value, /^kauth_[\w-]{49}$/)
    const [current] = JSON.parse(sessions ?? '')
    const [, members = ''] = /^\| Session \| (.*) \|$/m.exec(page) ?? []
    assert.deepEqual(
      Object.keys(current),
      [...members.matchAll(/`(\w+)`/g)].map(([, name]) => name),
    )
    assert.deepEqual(JSON.parse(changed ?? ''), { sessionsEnded: 0, tokensRevoked: 2 })
    assert.match(refused ?? '', /^HTTP\/1\.1 401 Unauthorized\r\n/)
  })
})
