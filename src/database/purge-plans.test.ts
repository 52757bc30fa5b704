import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Event } from '../account/activity/event.ts'
import { sql } from '../testing/database.ts'
import { recordSiteStatements } from '../testing/record-site-statements.ts'
import { startSite } from '../testing/site.ts'
import { onlyPostgres } from '../testing/test-database.ts'
import { deleteBatch } from './delete-batch.ts'

describe('purge of a large table', onlyPostgres, () => {
  test('searches by an index and reads no whole table, even with old statistics', async (t) => {
    const site = await startSite(t)
    // A fifth has expired when the statistics are made, and nothing is expired afterwards.
    for (let round = 0; round < 4; round += 1)
      await sql(
        site,
        `insert into events (id, at, event, address, user_agent, request)
         select gen_random_uuid(), now() + (case when n % 5 = 0 then -1 else 1 end) * interval '1 hour', 'signed in', '', '', ''
         from generate_series(1, 5000) as n`,
      )
    await sql(site, 'analyze events')
    await sql(site, 'delete from events where at < now()')
    const statements = await recordSiteStatements(t, site)
    const now = new Date()
    const conditions = [{ at: { $lt: now } }, { at: { $gt: new Date(now.getTime() + 86_400_000) } }]
    assert.equal(await deleteBatch(site.orm.em.fork(), Event, conditions, 500), 0)
    const executed = statements().filter((each) => each.includes(' from `events` '))
    assert.equal(executed.length, 2)
    for (const statement of executed) {
      const plan = await sql(site, `explain ${statement.replaceAll('`', '"')}`)
      const text = JSON.stringify(plan)
      assert.match(text, /Index Scan using/, text)
      assert.doesNotMatch(text, /Seq Scan on events/, text)
    }
  })
})
