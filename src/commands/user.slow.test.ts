import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Database from 'better-sqlite3'
import { signUp } from '../testing/people.ts'
import { assertRefused } from '../testing/run-command.ts'
import { onlySqlite } from '../testing/test-database.ts'
import { startWithUserCommand } from '../testing/user-command.ts'
import { User } from '../users/user.ts'

describe('npm run user', () => {
  test('prints its help, and refers to it after an invalid command line', async (t) => {
    const { user } = await startWithUserCommand(t)
    const [help, invalid] = [await user('--help'), await user('frob')]

    assert.deepEqual([help.code, help.errors, invalid.code, invalid.out], [0, '', 2, ''])
    assert.match(help.out, /set-password/)
    assert.match(invalid.errors, /^Unknown command frob\..*\nHelp: /)
  })

  test('explains a wrong variable or database in one line', async (t) => {
    const { user, site } = await startWithUserCommand(t)
    const DATABASE_URL = `sqlite:${site.config.dataDir}`

    assertRefused(await user('list', '', { BCRYPT_COST: '99' }), /^BCRYPT_COST must be .*\n$/)
    assertRefused(await user('list', '', { DATABASE_URL }), /^The database .* cannot be (used|opened): .*\n$/)
  })

  test(
    'waits for the write lock, and changes nothing after its timeout',
    onlySqlite('PostgreSQL has many writers'),
    async (t) => {
      const { user, em, database, site } = await startWithUserCommand(t)
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
