import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { signUp } from '../testing/people.ts'
import { assertRefused, runCommand } from '../testing/run-command.ts'
import { onlySqlite } from '../testing/test-database.ts'
import { startWithUserCommand } from '../testing/user-command.ts'
import { User } from '../users/user.ts'

/** Starts a site, and returns it with a function that runs `npm run user` on its database, in another process. */
async function start(t: TestContext) {
  const { env, ...started } = await startWithUserCommand(t)
  const user = (line: string, input = '', variables = {}) =>
    runCommand(['commands/user', ...line.split(' ')], { ...env, ...variables }, input)
  return { ...started, user }
}

describe('npm run user', () => {
  test('prints its help, and refers to it after an invalid command line', async (t) => {
    const { user } = await start(t)
    const [help, invalid] = [await user('--help'), await user('frob')]

    assert.deepEqual([help.code, help.errors, invalid.code, invalid.out], [0, '', 2, ''])
    assert.match(help.out, /set-password/)
    assert.match(invalid.errors, /^Unknown command frob\..*\nHelp: /)
  })

  test('explains a wrong variable or database in one line', async (t) => {
    const { user, site } = await start(t)
    const DATABASE_URL = `sqlite:${site.config.dataDir}`

    assertRefused(await user('list', '', { BCRYPT_COST: '99' }), /^BCRYPT_COST must be .*\n$/)
    assertRefused(await user('list', '', { DATABASE_URL }), /^The database .* cannot be (used|opened): .*\n$/)
  })

  test('gives other users of the machine no access to a new database, even in a readable folder', async (t) => {
    if (process.platform === 'win32') return t.skip('Windows has no such permission bits.')
    const { user, site } = await start(t)
    const folder = join(site.config.dataDir, 'another')
    await mkdir(folder)
    await chmod(folder, 0o755)
    const { code } = await user('add ada@example.com --name Ada', 'correct horse battery\n', {
      DATA_DIR: folder,
      DATABASE_URL: '',
    })
    const files = await readdir(folder)

    assert.equal(code, 0)
    assert.ok(files.includes('site.sqlite'))
    for (const file of files) assert.equal((await stat(join(folder, file))).mode & 0o077, 0, file)
  })

  test(
    'waits for the write lock, and changes nothing after its timeout',
    onlySqlite('PostgreSQL has many writers'),
    async (t) => {
      const { user, em, database, site } = await start(t)
      await signUp(site)
      const other = new Database(database)
      other.exec('begin immediate')

      assertRefused(await user('disable ada@example.com'), /^The database .*SQLITE_BUSY.*\n$/)
      assert.equal(await em().count(User), 1)

      const waiting = user('disable ada@example.com')
      setTimeout(() => other.exec('rollback').close(), 1000)
      assert.equal((await waiting).code, 0)
      assert.equal(await em().count(User), 0)
    },
  )
})
