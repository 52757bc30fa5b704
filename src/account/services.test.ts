import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { openDatabase } from '../database/open-database.ts'
import { sql } from '../testing/database.ts'
import { bearer, signIn, signUp, takeToken } from '../testing/people.ts'
import { type Site, startSite } from '../testing/site.ts'
import { onlyPostgres, onlySqlite, patientSchema } from '../testing/test-database.ts'
import { UserToken } from '../users/user-token.ts'

/** A site, a user with a number of tokens, and a function that uses each token once. */
async function siteWithTokens(t: TestContext, amount: number) {
  const site = await startSite(t)
  const person = await signUp(site)
  const tokens: string[] = []
  for (let i = 0; i < amount; i += 1) tokens.push(await takeToken(site, person))
  const use = async () => {
    for (const token of tokens) assert.equal((await site.visitor().get('/me', bearer(token))).status, 200)
  }
  return { site, person, use }
}

async function used(site: Site): Promise<boolean[]> {
  const rows = await sql(site, 'select last_used_at from user_tokens order by id')
  return rows.map((row) => row.last_used_at !== null)
}

describe('the last uses of tokens and sessions', () => {
  test('appear immediately in the lists of sessions and tokens, before they are written', async (t) => {
    const { site, person, use } = await siteWithTokens(t, 1)
    const ada = await signIn(site, person)
    const start = Date.now()
    await sql(site, 'update sessions set seen_at = ?', [start - 3_600_000])
    await use()
    const sessions = JSON.parse((await ada.get('/account/sessions')).text)
    assert.ok(Date.parse(sessions[0].seenAt) >= start, sessions[0].seenAt)
    const { tokens } = JSON.parse((await ada.post('/account/data')).text)
    assert.ok(Date.parse(tokens[0].lastUsedAt) >= start, tokens[0].lastUsedAt)
  })

  test(
    'fail no request while the database is locked, and are written when it is unlocked',
    onlySqlite('only SQLite locks the whole database'),
    async (t) => {
      const { site, use } = await siteWithTokens(t, 1)
      const other = new Database(join(site.config.dataDir, 'site.sqlite'))
      other.exec('begin exclusive')
      await use()
      const written = site.writeUses()
      await use()
      other.exec('rollback')
      other.close()
      await written
      await site.writeUses()
      assert.deepEqual(await used(site), [true])
    },
  )

  test('are written to all rows except a locked one', onlyPostgres, async (t) => {
    const { site, use } = await siteWithTokens(t, 3)
    const other = await openDatabase(site.database.url, patientSchema)
    t.after(() => other.close())
    const [, second] = await sql(site, 'select id from user_tokens order by id')
    await other.em.fork().transactional(async (em) => {
      await em.nativeDelete(UserToken, { id: String(second?.id) })
      await use()
      await site.writeUses()
      assert.deepEqual(await used(site), [true, false, true])
    })
    assert.deepEqual(await used(site), [true, true])
  })
})
