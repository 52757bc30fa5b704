import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { runServer, temporaryFolder } from '../testing/server-process.ts'

const secret = 'k'.repeat(48)
const secretsKey = `key1:${randomBytes(32).toString('base64')}`

/** An invalid configuration or environment, and the expected error line. */
interface BadStart {
  readonly line: RegExp
  readonly variables?: Record<string, string>
  /** Whether `DATA_DIR` is the working directory. */
  readonly isWorkingDirectory?: boolean
  /** Prepares `DATA_DIR`. */
  readonly prepare?: (folder: string, t: TestContext) => Promise<void>
}

// Root can write everywhere, so the server runs as another user.
const asNobody = `--import=data:text/javascript,process.getuid()||process.setuid(65534)`

const badStarts: Record<string, BadStart> = {
  'another process that never finishes its migration': {
    async prepare(folder, t) {
      const other = new Database(join(folder, 'site.sqlite'))
      other.exec('begin exclusive')
      t.after(async () => void other.close())
    },
    line: /^The database .* cannot be used: SQLITE_BUSY\. Another process .+\.$/,
  },
  'a short secret in production': {
    variables: {
      NODE_ENV: 'production',
      PUBLIC_URL: 'https://example.com',
      JWT_SECRET: 'short',
      BCRYPT_COST: '12',
    },
    line: /^JWT_SECRET /,
  },
  'a folder instead of the database': {
    prepare: async (folder) => void (await mkdir(join(folder, 'site.sqlite'))),
    line: /^The database .*site\.sqlite cannot be used: SQLITE_CANTOPEN\. Check .+\.$/,
  },
  'another file instead of the database': {
    prepare: (folder) => writeFile(join(folder, 'site.sqlite'), 'no database '.repeat(1000)),
    line: /^The database .* cannot be used: SQLITE_NOTADB\. .+ restore a backup\.$/,
  },
  'a truncated database': {
    async prepare(folder) {
      const database = new Database(join(folder, 'site.sqlite'))
      database.exec('create table test_notes (text text); create index test_notes_index on test_notes (text)')
      const pages = database.serialize()
      database.close()
      await writeFile(join(folder, 'site.sqlite'), pages.subarray(0, 5000))
    },
    line: /^The database .* cannot be used: SQLITE_CORRUPT\. .+ Restore a backup\.$/,
  },
  'a read-only folder': {
    async prepare(folder) {
      await writeFile(join(folder, 'jwt-secret'), secret)
      await chmod(join(folder, 'jwt-secret'), 0o644)
      await chmod(folder, 0o555)
    },
    variables: { NODE_OPTIONS: asNobody, JWT_SECRET: secret, SECRETS_KEY: secretsKey },
    line: /^The database .* cannot be used: [A-Z_]+\. Check .+\.$/,
  },
  'a read-only database': {
    async prepare(folder) {
      new Database(join(folder, 'site.sqlite')).exec('create table test_notes (text text)').close()
      await chmod(join(folder, 'site.sqlite'), 0o444)
      await chmod(folder, 0o777)
    },
    variables: { NODE_OPTIONS: asNobody, JWT_SECRET: secret },
    line: /^The database .* cannot be used: SQLITE_READONLY\. Check .+\.$/,
  },
  'a folder for the database below /proc': {
    variables: { DATABASE_URL: 'sqlite:/proc/koa/authenticators/site.sqlite' },
    line: /^The database \/proc\/koa\/authenticators\/site\.sqlite cannot be used: ENOENT\. Check .+\.$/,
  },
  'a folder instead of .env': {
    prepare: async (folder) => void (await mkdir(join(folder, '.env'))),
    isWorkingDirectory: true,
    line: /^\.env cannot be read\. /,
  },
  'a # in the middle of a value in .env': {
    prepare: (folder) => writeFile(join(folder, '.env'), 'SITE_NAME=Tea#time\n'),
    isWorkingDirectory: true,
    line: /^\.env cuts SITE_NAME at #, which begins a comment\. Put the value in quotes\.$/,
  },
  'a DATA_DIR that cannot be created': {
    variables: { DATA_DIR: '/proc/koa' },
    line: /^DATA_DIR |^The database /,
  },
}

describe('a failed start', () => {
  test('N1 prints one line and exits with 1', async (t) => {
    for (const [what, { line, variables, prepare, isWorkingDirectory }] of Object.entries(badStarts)) {
      const folder = await temporaryFolder(t)
      await chmod(folder, 0o755)
      await prepare?.(folder, t)
      const { code, stdout, stderr } = await runServer(
        t,
        { DATA_DIR: folder, ...variables },
        isWorkingDirectory ? { cwd: folder } : {},
      ).ended
      assert.deepEqual([code, stdout], [1, ''], `${what}: ${stderr}`)
      assert.match(stderr.trimEnd(), line, what)
      assert.equal(stderr.trimEnd().split('\n').length, 1, stderr)
      assert.doesNotMatch(stderr, /\n\s+at |node:internal|Error:/)
    }
  })
})
