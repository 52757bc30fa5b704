import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { openDatabase } from '../database/open-database.ts'
import { migrations } from '../migrations/index.ts'
import { registration } from '../testing/people.ts'
import { runServer, startServer, temporaryFolder } from '../testing/server-process.ts'

/** Everything that migrations make, and what they have noted of themselves. */
function schemaOf(folder: string) {
  const database = new Database(join(folder, 'site.sqlite'))
  const rows = {
    schema: database.prepare('select type, name, sql from sqlite_schema order by type, name').all(),
    migrations: database.prepare('select name from mikro_orm_migrations order by name').pluck().all(),
    integrity: database.pragma('integrity_check', { simple: true }),
  }
  database.close()
  return rows
}

async function start(t: TestContext, folder: string) {
  const server = await startServer(t, { DATA_DIR: folder })
  assert.equal((await server.visitor().get('/readyz')).status, 200)
  return server
}

describe('migrations', () => {
  test('run once when ten processes start at once on a fresh folder, and all of them serve', async (t) => {
    const folder = await temporaryFolder(t)
    const servers = await Promise.all(Array.from({ length: 10 }, () => start(t, folder)))
    const [first = assert.fail(), ...others] = servers
    assert.equal((await first.visitor().json('/users', registration('Ada'))).status, 201)
    for (const each of others)
      assert.equal((await each.visitor().json('/users', registration('Ada'))).status, 409)
    const { migrations: done, integrity } = schemaOf(folder)
    assert.deepEqual(done, migrations.map(({ name }) => name).sort())
    assert.equal(integrity, 'ok')
  })

  test('are done as a whole or not at all by a process that is killed, and completed by the next', async (t) => {
    const undisturbed = await temporaryFolder(t)
    const migrate = async () => (await openDatabase(`sqlite:${join(undisturbed, 'site.sqlite')}`)).close()
    await migrate()
    const expected = schemaOf(undisturbed)
    await migrate()
    assert.deepEqual(schemaOf(undisturbed), expected, 'another start changes nothing')

    const folder = await temporaryFolder(t)
    // One after the other, on what the one before has left.
    for (const statement of ['2', '26']) {
      const variables = { DATA_DIR: folder, DIE_AT: statement }
      const options = [`--import=${import.meta.dirname}/die-at.ts`]
      const { child, ended } = runServer(t, variables, { options })
      const { stderr } = await ended
      assert.equal(child.signalCode, 'SIGKILL', `statement ${statement}: ${stderr}`)
    }
    const server = await start(t, folder)
    assert.deepEqual(schemaOf(folder), expected)
    assert.equal((await server.visitor().json('/users', registration('Ada'))).status, 201)
  })
})
