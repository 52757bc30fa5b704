import assert from 'node:assert/strict'
import { chmod, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import Database from 'better-sqlite3'
import { signUp } from '../testing/people.ts'
import { assertRefused, runCommand } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/server-process.ts'
import { startWithUserCommand } from '../testing/user-command.ts'
import { User } from '../users/user.ts'

const run = (line: string, env: Record<string, string>, input = '') =>
  runCommand(['commands/user', ...line.split(' ')], env, input)

describe('npm run user', () => {
  test('prints its help, and refers to it after an invalid command line', async () => {
    const [help, invalid] = [await run('--help', {}), await run('frob', {})]

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

  test('creates a database that other users of the machine cannot access, even in a readable folder', async (t) => {
    if (process.platform === 'win32') return t.skip('Windows has no such permission bits.')
    const folder = await temporaryFolder(t)
    await chmod(folder, 0o755)
    const env = { DATA_DIR: folder, BCRYPT_COST: '4' }
    const { code } = await run('add ada@example.com --name Ada', env, 'correct horse battery\n')
    const files = await readdir(folder)

    assert.equal(code, 0)
    assert.ok(files.includes('site.sqlite'))
    for (const file of files) assert.equal((await stat(join(folder, file))).mode & 0o077, 0, file)
  })

  test('waits for the write lock, and changes nothing after its timeout', async (t) => {
    const { user, em, database, site } = await startWithUserCommand(t)
    await signUp(site)
    const other = new Database(database)
    other.exec('begin immediate')

    assertRefused(await user('disable ada@example.com'), /^The database .*SQLITE_BUSY.*\n$/)
    assert.equal(await em().count(User), 1)

    const waiting = user('disable ada@example.com')
    setTimeout(() => other.exec('rollback').close(), 200)
    assert.equal((await waiting).code, 0)
    assert.equal(await em().count(User), 0)
  })
})
