import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { temporaryFolder } from '../testing/server-process.ts'

// Node finds none of these, as where they are not installed.
const withoutPostgres = `import { registerHooks } from 'node:module'
  registerHooks({ resolve(name, context, next) {
    if (name !== '@mikro-orm/postgresql' && name !== 'pg') return next(name, context)
    throw Object.assign(new Error('There is no such package.'), { code: 'ERR_MODULE_NOT_FOUND' })
  } })`

describe('a database where nothing of PostgreSQL is installed', () => {
  test('can be SQLite, and for PostgreSQL the operator is told in a line what to install', async (t) => {
    const folder = await temporaryFolder(t)
    const list = async (DATABASE_URL: string) => {
      const hooks = `data:text/javascript,${encodeURIComponent(withoutPostgres)}`
      const words = ['--import', hooks, join(import.meta.dirname, '../start.js'), 'user-command', 'list']
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
