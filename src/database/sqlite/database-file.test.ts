import assert from 'node:assert/strict'
import { copyFile, mkdtemp, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { DatabaseFile } from './database-file.ts'

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

const moved = { code: 'SQLITE_READONLY_DBMOVED' }

describe('DatabaseFile', () => {
  test('accepts the file after writes, a checkpoint, a vacuum and the use by another connection', async (t) => {
    const { path, database, file } = await open(t)
    file.assertInPlace()
    const other = new Database(path)
    other.exec("insert into notes values ('a')")
    other.pragma('wal_checkpoint(truncate)')
    other.close()
    database.exec('vacuum')
    file.assertInPlace()
  })

  test('detects a moved file, and accepts it again when it is back', async (t) => {
    const { path, file } = await open(t)
    await rename(path, `${path}.old`)
    assert.throws(() => file.assertInPlace(), moved)
    await rename(`${path}.old`, path)
    file.assertInPlace()
  })

  test('detects a file that was replaced by its copy, or deleted', async (t) => {
    const { path, file } = await open(t)
    await copyFile(path, `${path}.copy`)
    await rename(`${path}.copy`, path)
    assert.throws(() => file.assertInPlace(), moved)
    await rm(path)
    assert.throws(() => file.assertInPlace(), moved)
  })

  test('detects a deleted write-ahead log', async (t) => {
    const { path, file } = await open(t)
    await rm(`${path}-wal`)
    assert.throws(() => file.assertInPlace(), moved)
    assert.equal(file.hasLostIndex(), false)
  })

  test('detects a deleted or replaced index of the write-ahead log', async (t) => {
    const { path, file } = await open(t)
    assert.equal(file.hasLostIndex(), false)
    await rename(`${path}-shm`, `${path}-elsewhere`)
    assert.throws(() => file.assertInPlace(), moved)
    const other = new Database(path)
    other.exec("insert into notes values ('a')")
    other.close()
    assert.throws(() => file.assertInPlace(), moved)
    assert.equal(file.hasLostIndex(), true)
  })

  test('follows a symbolic link to its target', async (t) => {
    const { path } = await open(t)
    const link = `${path}-link`
    await symlink(path, link)
    const file = new DatabaseFile(link)
    file.assertInPlace()
    for (const each of [link, path, `${path}-wal`, `${path}-shm`]) {
      await rename(each, `${each}-elsewhere`)
      assert.throws(() => file.assertInPlace(), moved, each)
      await rename(`${each}-elsewhere`, each)
      file.assertInPlace()
    }
    await copyFile(path, `${path}-copy`)
    await rm(link)
    await symlink(`${path}-copy`, link)
    assert.throws(() => file.assertInPlace(), moved)
  })

  test('uses an earlier result that is not older than the tolerance', async (t) => {
    const { path, file } = await open(t)
    file.assertInPlace()
    await rm(path)
    file.assertInPlace(60_000)
    assert.throws(() => file.assertInPlace(), moved)
    assert.throws(() => file.assertInPlace(60_000), moved)
  })
})
