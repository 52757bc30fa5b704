import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { migrations } from '../migrations/index.ts'
import { sql } from '../testing/database.ts'
import { registration } from '../testing/people.ts'
import { runServer, startServer, temporaryFolder } from '../testing/server-process.ts'
import { isOnPostgres, makeEmptyDatabase, patientSchema } from '../testing/test-database.ts'
import { openDatabase } from './open-database.ts'

type Variables = Record<'DATA_DIR' | 'DATABASE_URL', string>

/** The variables of a site with an empty database. */
async function emptyDatabase(t: TestContext): Promise<Variables> {
  const folder = await temporaryFolder(t)
  if (!isOnPostgres) return { DATA_DIR: folder, DATABASE_URL: `sqlite:${join(folder, 'site.sqlite')}` }
  const { url, drop } = await makeEmptyDatabase()
  t.after(drop)
  return { DATA_DIR: folder, DATABASE_URL: url }
}

const descriptions = isOnPostgres
  ? [
      "select table_name, column_name, data_type, is_nullable, collation_name from information_schema.columns where table_schema = 'public' order by 1, 2",
      "select indexname, indexdef from pg_indexes where schemaname = 'public' order by 1",
    ]
  : ['select type, name, sql from sqlite_schema order by type, name', 'pragma integrity_check']

/** The schema and the executed migrations of a database. */
async function schemaOf({ DATABASE_URL }: Variables) {
  const orm = await openDatabase(DATABASE_URL, patientSchema)
  const done = await sql({ orm }, 'select name from mikro_orm_migrations order by name')
  const description = []
  for (const each of descriptions) description.push(await sql({ orm }, each))
  await orm.close()
  return { migrations: done.map(({ name }) => name), schema: description }
}

async function start(t: TestContext, variables: Variables) {
  const server = await startServer(t, variables, { isPatient: true })
  assert.equal((await server.visitor().get('/readyz')).status, 200)
  return server
}

describe('migrations', () => {
  test('N12 run once when ten processes start together on an empty database, and all processes serve', async (t) => {
    const variables = await emptyDatabase(t)
    const servers = await Promise.all(Array.from({ length: 10 }, () => start(t, variables)))
    const [first = assert.fail(), ...others] = servers
    assert.equal((await first.visitor().json('/users', registration('Ada'))).status, 201)
    for (const each of others)
      assert.equal((await each.visitor().json('/users', registration('Ada'))).status, 409)
    const { migrations: done, schema: description } = await schemaOf(variables)
    assert.deepEqual(done, migrations.map(({ name }) => name).sort())
    if (!isOnPostgres) assert.deepEqual(description.at(-1), [{ integrity_check: 'ok' }])
  })

  test('N12 are completed by the next start after a process was killed', async (t) => {
    const undisturbed = await emptyDatabase(t)
    const expected = await schemaOf(undisturbed)
    assert.deepEqual(await schemaOf(undisturbed), expected, 'a second start changes nothing')

    const variables = await emptyDatabase(t)
    // Each process continues with the database that the previous one left.
    for (const statement of ['2', '26']) {
      const options = [
        '--conditions=@koa-authenticators/source',
        `--import=${import.meta.resolve('../testing/faults/die-at.ts')}`,
      ]
      const { child, ended } = runServer(t, { ...variables, DIE_AT: statement }, { options })
      const { stderr } = await ended
      assert.equal(child.signalCode, 'SIGKILL', `statement ${statement}: ${stderr}`)
    }
    const server = await start(t, variables)
    assert.deepEqual(await schemaOf(variables), expected)
    assert.equal((await server.visitor().json('/users', registration('Ada'))).status, 201)
  })
})
