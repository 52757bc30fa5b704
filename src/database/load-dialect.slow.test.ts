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

describe('loadDialect', () => {
  test('loads no PostgreSQL package for SQLite', async (t) => {
    const DATABASE_URL = `sqlite:${await temporaryFolder(t)}/site.sqlite`
    const hooks = `data:text/javascript,${encodeURIComponent(withoutPostgres)}`
    const words = ['--import', hooks, join(import.meta.dirname, '../start.js'), 'commands/user', 'list']
    const child = spawn(process.execPath, words, { env: { PATH: process.env.PATH, DATABASE_URL } })
    const [[code], errors] = await Promise.all([once(child, 'close'), text(child.stderr)])
    assert.deepEqual([code, errors], [0, ''])
  })
})
