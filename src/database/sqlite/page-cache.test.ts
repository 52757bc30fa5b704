import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { sql } from '../../testing/database.ts'
import { openDatabase } from '../open-database.ts'
import { pageCacheSize } from './page-cache.ts'

const counts = '/proc/self/io'

/** What this process has read from files so far, in bytes. */
function bytesRead(): number {
  return Number(/rchar: (\d+)/.exec(readFileSync(counts, 'utf8'))?.[1])
}

describe('the page cache', () => {
  test('is a small share of the memory, at least what SQLite would take, and at most what helps', () => {
    const sizes = [0.25, 1, 4, 8, 64].map((gibibytes) => pageCacheSize(gibibytes * 1024 ** 3) / 1024)
    assert.deepEqual(sizes, [16, 32, 128, 256, 256])
  })

  test('has a file that is larger than what SQLite would take read once', {
    skip: !existsSync(counts) && `there is no ${counts} to count by`,
  }, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'page-cache-'))
    const orm = await openDatabase(`sqlite:${join(folder, 'site.sqlite')}`)
    t.after(async () => {
      await orm.close(true)
      await rm(folder, { recursive: true })
    })
    await sql({ orm }, 'create table notes (id integer primary key, text text)')
    await sql(
      { orm },
      `with recursive n (id) as (select 1 union all select id + 1 from n where id < 24000)
        insert into notes select id, hex(zeroblob(500)) from n`,
    )
    const read = async () => {
      const before = bytesRead()
      await sql({ orm }, 'select sum(length(text)) from notes')
      return bytesRead() - before
    }
    await read()
    assert.ok((await read()) < 1024 * 1024)
  })
})
