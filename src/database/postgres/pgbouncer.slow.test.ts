import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { migrations } from '../../migrations/index.ts'
import { schema } from '../../schema.ts'
import { sql } from '../../testing/database.ts'
import { onlyWith } from '../../testing/debian-programs.ts'
import { signIn, signUp } from '../../testing/people.ts'
import { startPgBouncer } from '../../testing/pgbouncer.ts'
import { runServer, startServer, temporaryFolder } from '../../testing/server-process.ts'
import { makeEmptyDatabase, onlyPostgres } from '../../testing/test-database.ts'
import { openDatabase } from '../open-database.ts'

const options = { skip: onlyPostgres.skip || onlyWith('pgbouncer').skip }

describe('the site behind PgBouncer', options, () => {
  test('works in transaction mode, migrates once and keeps no lock', async (t) => {
    const { url, drop } = await makeEmptyDatabase()
    t.after(drop)
    const DATABASE_URL = await startPgBouncer(t, url, 'transaction')
    const variables = { DATA_DIR: await temporaryFolder(t), DATABASE_URL, THROTTLE: 'off' }
    const servers = await Promise.all(Array.from({ length: 3 }, () => startServer(t, variables)))
    for (const [index, server] of servers.entries()) {
      const ada = await signUp(server, `Ada${index}`)
      const visitor = await signIn(server, ada)
      const answers = await Promise.all(Array.from({ length: 30 }, () => visitor.page('/account')))
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    }

    const orm = await openDatabase(url, schema)
    t.after(() => orm.close())
    const done = await sql({ orm }, 'select name from mikro_orm_migrations')
    assert.equal(done.length, migrations.length)
    // The locks of other databases belong to other tests.
    const held = `select pid from pg_locks where locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`
    assert.deepEqual(await sql({ orm }, held), [])
    // A pooler keeps the connections that it opened before the first start has set the limits.
    const pooled = await openDatabase(await startPgBouncer(t, url, 'transaction'), schema)
    t.after(() => pooled.close())
    const limits = await Promise.all(
      Array.from({ length: 20 }, () =>
        sql({ orm: pooled }, "select current_setting('lock_timeout') as limit"),
      ),
    )
    assert.deepEqual([...new Set(limits.map(([row]) => row?.limit))], ['2s'])
  })

  test('is refused with a sentence in statement mode', async (t) => {
    const { url, drop } = await makeEmptyDatabase()
    t.after(drop)
    const DATABASE_URL = await startPgBouncer(t, url, 'statement')
    const { ended } = runServer(t, { DATA_DIR: await temporaryFolder(t), DATABASE_URL })
    const { code, stderr } = await ended
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^The database .* cannot be used: 08P01\. The pooler in front of it allows no transactions\. /,
    )
  })
})
