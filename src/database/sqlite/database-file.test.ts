import assert from 'node:assert/strict'
import { copyFile, mkdtemp, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { DatabaseFile } from './database-file.ts'

/** A database that somebody has open, and its file. */
async function open(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'koa-authenticators-'))
  const path = join(folder, 'site.sqlite')
  const database = new Database(path)
  database.pragma('journal_mode = wal')
  database.exec('create table notes (text text)')
  t.after(async () => {
    database.close()
    await rm(folder, { recursive: true })
  })
  return { path, database, file: new DatabaseFile(path) }
}

const gone = { code: 'SQLITE_READONLY_DBMOVED' }

describe('DatabaseFile', () => {
  test('is in place while the database is only written, checkpointed and opened by others', async (t) => {
    const { path, database, file } = await open(t)
    file.assertInPlace()
    const other = new Database(path)
    other.exec("insert into notes values ('a')")
    other.pragma('wal_checkpoint(truncate)')
    other.close()
    database.exec('vacuum')
    file.assertInPlace()
  })

  test('is not when it was moved, and is again when it is back', async (t) => {
    const { path, file } = await open(t)
    await rename(path, `${path}.old`)
    assert.throws(() => file.assertInPlace(), gone)
    await rename(`${path}.old`, path)
    file.assertInPlace()
  })

  test('is not when it was replaced, by a copy of itself even, or deleted', async (t) => {
    const { path, file } = await open(t)
    await copyFile(path, `${path}.copy`)
    await rename(`${path}.copy`, path)
    assert.throws(() => file.assertInPlace(), gone)
    await rm(path)
    assert.throws(() => file.assertInPlace(), gone)
  })

  test('is not when the log of its writes was deleted, which holds what was written last', async (t) => {
    const { path, file } = await open(t)
    await rm(`${path}-wal`)
    assert.throws(() => file.assertInPlace(), gone)
    assert.equal(file.hasLostIndex(), false)
  })

  test('is not when the index of that log was deleted or replaced, by which others know what we write', async (t) => {
    const { path, file } = await open(t)
    assert.equal(file.hasLostIndex(), false)
    await rename(`${path}-shm`, `${path}-elsewhere`)
    assert.throws(() => file.assertInPlace(), gone)
    const other = new Database(path)
    other.exec("insert into notes values ('a')")
    other.close()
    assert.throws(() => file.assertInPlace(), gone)
    assert.equal(file.hasLostIndex(), true)
  })

  test('is looked for where a symbolic link leads, and where it stands', async (t) => {
    const { path } = await open(t)
    const link = `${path}-link`
    await symlink(path, link)
    const file = new DatabaseFile(link)
    file.assertInPlace()
    for (const each of [link, path, `${path}-wal`, `${path}-shm`]) {
      await rename(each, `${each}-elsewhere`)
      assert.throws(() => file.assertInPlace(), gone, each)
      await rename(`${each}-elsewhere`, each)
      file.assertInPlace()
    }
    await copyFile(path, `${path}-copy`)
    await rm(link)
    await symlink(`${path}-copy`, link)
    assert.throws(() => file.assertInPlace(), gone)
  })

  test('is looked at no oftener than the caller needs', async (t) => {
    const { path, file } = await open(t)
    file.assertInPlace()
    await rm(path)
    file.assertInPlace(60_000)
    assert.throws(() => file.assertInPlace(), gone)
    assert.throws(() => file.assertInPlace(60_000), gone)
  })
})
