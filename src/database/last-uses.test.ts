import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { v7 as uuidv7 } from 'uuid'
import { changes, sql } from '../testing/database.ts'
import { signUp } from '../testing/people.ts'
import { recordStatements } from '../testing/record-statements.ts'
import { type Site, startSite } from '../testing/site.ts'
import { onlyPostgres, onlySqlite } from '../testing/test-database.ts'
import { UserToken, usedTokens } from '../users/user-token.ts'
import { openDatabase } from './open-database.ts'

const minute = 60_000
const now = Date.UTC(2030, 0, 1)

/** A site, with a user who has so many tokens. */
async function siteWithTokens(t: TestContext, amount: number) {
  const site = await startSite(t)
  const { id: user } = await signUp(site)
  const ids = Array.from({ length: amount }, () => uuidv7())
  const expiresAt = new Date(now + 100 * minute)
  const createdAt = new Date(now)
  await site.orm.em.fork().insertMany(
    UserToken,
    ids.map((id) => ({ id, value: id.padEnd(43, 'x'), name: 'a token', user, expiresAt, createdAt })),
  )
  return { site, ids }
}

async function lastUsed(site: Site): Promise<unknown[]> {
  const rows = await sql(site, 'select last_used_at from user_tokens order by id')
  return rows.map((row) => row.last_used_at)
}

describe('LastUses', () => {
  test('writes what was used within a second with one statement for 500 rows, and not before', async (t) => {
    const { site, ids } = await siteWithTokens(t, 501)
    const { lastUses } = site
    const before = await changes(site)
    const statements = await recordStatements(t, site.orm)
    for (const id of ids) lastUses.note(usedTokens, id, null, now)
    assert.equal(statements.length, 0)
    await lastUses.write()
    assert.equal(statements.filter((each) => each.startsWith('update')).length, 2)
    assert.equal(await changes(site), before + 501)
    assert.deepEqual(new Set(await lastUsed(site)), new Set([now]))
  })

  test('writes by itself, a second later', async (t) => {
    const { site, ids } = await siteWithTokens(t, 1)
    const start = Date.now()
    site.lastUses.note(usedTokens, ids[0] ?? '', null, now)
    while ((await lastUsed(site))[0] === null) {
      assert.ok(Date.now() < start + 10_000)
      await turn()
    }
    assert.ok(Date.now() >= start + 900)
  })

  test('notes a row at most once a minute, by what it says itself and by what is noted', async (t) => {
    const { site, ids } = await siteWithTokens(t, 1)
    const [id = ''] = ids
    const { lastUses } = site
    const before = await changes(site)
    lastUses.note(usedTokens, id, new Date(now - minute + 1), now)
    assert.equal(await changes(site), before)
    lastUses.note(usedTokens, id, new Date(now - minute), now)
    lastUses.note(usedTokens, id, new Date(now - minute), now + minute - 1)
    assert.equal(await changes(site), before + 1)
    assert.deepEqual(await lastUsed(site), [now])
    lastUses.note(usedTokens, id, new Date(now), now + minute)
    lastUses.note(usedTokens, id, new Date(now), now + 2 * minute)
    assert.equal(+lastUses.last(usedTokens, id, new Date(now)), now + 2 * minute)
    assert.equal(await changes(site), before + 2)
    assert.deepEqual(await lastUsed(site), [now + 2 * minute])
    assert.equal(+lastUses.last(usedTokens, id, new Date(now)), now, 'the row tells again')
  })

  test('makes nothing later than it was, nor earlier than somebody else has noted, and brings nothing back', async (t) => {
    const { site, ids } = await siteWithTokens(t, 4)
    const { lastUses } = site
    for (const [i, id] of ids.entries()) lastUses.note(usedTokens, id, null, now + i)
    await sql(site, 'update user_tokens set last_used_at = ? where id = ?', [now + minute, ids[2]])
    await sql(site, 'delete from user_tokens where id = ?', [ids[3]])
    await lastUses.write()
    assert.deepEqual(await lastUsed(site), [now, now, now + minute])
  })

  test(
    'keeps what cannot be written while somebody has the database, and writes it then',
    onlySqlite('only there somebody can have all of it'),
    async (t) => {
      const { site, ids } = await siteWithTokens(t, 1)
      const [id = ''] = ids
      const other = new Database(join(site.config.dataDir, 'site.sqlite'))
      other.exec('begin exclusive')
      site.lastUses.note(usedTokens, id, null, now)
      await site.lastUses.write()
      assert.equal(+site.lastUses.last(usedTokens, id, new Date(0)), now)
      other.exec('rollback')
      other.close()
      await site.lastUses.write()
      assert.deepEqual(await lastUsed(site), [now])
    },
  )

  test('waits for nobody who has locked a row, and writes the others', onlyPostgres, async (t) => {
    const { site, ids } = await siteWithTokens(t, 3)
    const other = await openDatabase(site.database.url)
    t.after(() => other.close())
    await other.em.fork().transactional(async (em) => {
      await em.nativeDelete(UserToken, { id: ids[1] ?? '' })
      for (const id of ids) site.lastUses.note(usedTokens, id, null, now)
      await site.lastUses.write()
      assert.deepEqual(await lastUsed(site), [now, null, now])
    })
    assert.deepEqual(await lastUsed(site), [now, now])
  })

  test('holds 100,000 notes at most, and what finds no room is noted when it is used again', async (t) => {
    const { site, ids } = await siteWithTokens(t, 1)
    const [id = ''] = ids
    for (let i = 0; i < 100_000; i += 1) site.lastUses.note(usedTokens, `nobody's ${i}`, null, now)
    site.lastUses.note(usedTokens, id, null, now)
    assert.equal(+site.lastUses.last(usedTokens, id, new Date(0)), 0)
  })
})
