import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { temporaryFolder } from '../testing/server-process.ts'

// Hides the PostgreSQL packages from Node.
const withoutPostgres = `import { registerHooks } from 'node:module'
  registerHooks({ resolve(name, context, next) {
    if (name !== '@mikro-orm/postgresql' && name !== 'pg') return next(name, context)
    throw Object.assign(new Error('There is no such package.'), { code: 'ERR_MODULE_NOT_FOUND' })
  } })`

describe('loadDialect without the PostgreSQL packages', () => {
  test('loads SQLite, and names the missing package in one line for PostgreSQL', async (t) => {
    const folder = await temporaryFolder(t)
    const list = async (DATABASE_URL: string) => {
      const hooks = `data:text/javascript,${encodeURIComponent(withoutPostgres)}`
      const words = ['--import', hooks, join(import.meta.dirname, '../start.js'), 'commands/user', 'list']
      const child = spawn(process.execPath, words, { env: { PATH: process.env.PATH, DATABASE_URL } })
      const [[code], errors] = await Promise.all([once(child, 'close'), text(child.stderr)])
      return [code, errors]
    }
    assert.deepEqual(await list(`sqlite:${folder}/site.sqlite`), [0, ''])
    assert.deepEqual(await list('postgres://me:hunter2@127.0.0.1:1/site'), [
      1,
      'PostgreSQL needs the package @mikro-orm/postgresql, which is not installed: run npm ci.\n',
    ])
  })
})
