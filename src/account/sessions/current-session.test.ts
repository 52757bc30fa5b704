import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { digestOf } from '../../database/identifier.ts'
import { sql } from '../../testing/database.ts'
import { until } from '../../testing/faults/until.ts'
import { signIn, signUp } from '../../testing/people.ts'
import { startSite } from '../../testing/site.ts'
import { onlyPostgres } from '../../testing/test-database.ts'
import { StoredSession } from './stored-session.ts'

describe('a change of an account', () => {
  test('E6 keeps its session until it is complete: a sign-out waits for it', onlyPostgres, async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const other = await signIn(site, person)
    const ada = await signIn(site, person)
    const waiting = async () => {
      const isDelete = `query like 'delete from "sessions"%' and wait_event_type = 'Lock'`
      const statement = `select pid from pg_stat_activity where datname = current_database() and ${isDelete}`
      return (await sql(site, statement)).length
    }
    const requests = await site.orm.em.fork().transactional(async (em) => {
      // The change waits for this row, with its own session locked.
      const digest = digestOf(other.session ?? '')
      await em.nativeUpdate(StoredSession, { digest }, { userAgent: 'x' })
      const change = ada.form('/account/sessions/end-others', {})
      await until('the change waits', async () => (await waiting()) === 1)
      const signOut = site.visitor(ada.session).form('/logout', {})
      const result = await Promise.race([
        signOut.then(() => 'ended'),
        until('the sign-out waits', async () => (await waiting()) === 2).then(() => 'waits'),
      ])
      assert.equal(result, 'waits')
      return [change, signOut]
    })
    const statuses = (await Promise.all(requests)).map(({ status }) => status)
    assert.deepEqual(statuses, [303, 303])
    assert.deepEqual(await sql(site, 'select id from sessions'), [])
  })
})
