import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { prepareRead } from '../../auth/mikro-orm/prepared-read.ts'
import { sql } from '../../testing/database.ts'
import { recordStatements } from '../../testing/record-statements.ts'
import { makeDatabase, onlyPostgres } from '../../testing/test-database.ts'
import { openDatabase } from '../open-database.ts'

const id = '0190a6e5-7c9b-7000-8000-000000000001'
const columns = 'id, name, flag, amount, big, at, data, nothing'

async function databaseWithRow(t: TestContext) {
  const { url, drop } = await makeDatabase('')
  const orm = await openDatabase(url)
  t.after(async () => {
    await orm.close()
    await drop()
  })
  await sql(
    { orm },
    `create table kinds (id uuid, name text, flag boolean, amount integer, big bigint, at timestamptz, data jsonb, nothing text)`,
  )
  await sql(
    { orm },
    `insert into kinds values ('${id}', 'Ädä', true, 7, 9007199254740993, '2026-01-02 03:04:05.678Z', '{"a":1}')`,
  )
  const read = async () => {
    const prepared = await prepareRead(orm, {
      sql: `select ${columns} from kinds where id = ? limit 1`,
      keys: [{ table: 'kinds', key: 'id', column: 0 }],
    })
    return prepared ?? assert.fail('Nothing is prepared.')
  }
  return { orm, read }
}

describe('prepareRead on PostgreSQL', onlyPostgres, () => {
  test('reads each column as MikroORM has the driver read it, the first time and again', async (t) => {
    const { orm, read } = await databaseWithRow(t)
    const client: unknown = await orm.em.getConnection().getNativeClient()
    // The driver's own pool, which MikroORM's widest type does not know.
    const pool = client as { query(question: object): Promise<{ rows: unknown[] }> }
    const { rows } = await pool.query({ text: `select ${columns} from kinds`, rowMode: 'array' })
    const prepared = await read()
    for (let round = 0; round < 3; round += 1) assert.deepEqual(await prepared.get(id), rows[0])
  })

  test('finds nobody where there is no row', async (t) => {
    const { read } = await databaseWithRow(t)
    const prepared = await read()
    for (let round = 0; round < 2; round += 1)
      assert.equal(await prepared.get(id.replace('1', '2')), undefined)
  })

  test('throws at a value that the column cannot have, and the connection goes on', async (t) => {
    const { read } = await databaseWithRow(t)
    const prepared = await read()
    for (const wrong of ['x', '\0', `${id}\0`]) await assert.rejects(async () => prepared.get(wrong))
    assert.deepEqual((await prepared.get(id))?.[0], id)
  })

  test('answers whoever asks in one turn by one question, each with their own row', async (t) => {
    const { orm, read } = await databaseWithRow(t)
    const ids = Array.from({ length: 100 }, (_, i) => id.replace(/.{4}$/, String(1000 + i)))
    for (const [i, id] of ids.entries())
      if (i % 3 > 0) await sql({ orm }, `insert into kinds (id, name, amount) values ('${id}', 'n', ${i})`)
    const prepared = await read()
    const statements = await recordStatements(t, orm)
    for (let round = 0; round < 3; round += 1) {
      const rows = await Promise.all(ids.map((id) => prepared.get(id)))
      for (const [i, row] of rows.entries()) {
        assert.equal(row?.[0], i % 3 > 0 ? ids[i] : undefined)
        assert.equal(row?.[3], i % 3 > 0 ? i : undefined)
      }
    }
    // At most 32 in one: 100 take four, of as many connections.
    assert.equal(statements.length, 3 * 4)
  })

  test('throws at a value that the column cannot have for whoever asks for that alone', async (t) => {
    const { read } = await databaseWithRow(t)
    const prepared = await read()
    for (const wrong of ['x', '\0', `${id}\0`]) {
      const asked = [id, wrong, id.replace('1', '2'), id].map(async (value) => prepared.get(value))
      const [first, second, third, last] = await Promise.allSettled(asked)
      assert.equal(first?.status === 'fulfilled' && first.value?.[0], id)
      assert.equal(second?.status, 'rejected')
      assert.deepEqual(third, { status: 'fulfilled', value: undefined })
      assert.equal(last?.status === 'fulfilled' && last.value?.[0], id)
    }
  })

  test('throws for all who ask together where nobody can be answered, and asks once', async (t) => {
    const { orm, read } = await databaseWithRow(t)
    const prepared = await read()
    await prepared.get(id)
    await sql({ orm }, 'drop table kinds')
    const statements = await recordStatements(t, orm)
    const answers = await Promise.allSettled([id, id, id].map(async (value) => prepared.get(value)))
    for (const { status } of answers) assert.equal(status, 'rejected')
    assert.equal(statements.length, 1)
  })

  test('throws where a column is of another type by now, and is right when it is prepared again', async (t) => {
    const { orm, read } = await databaseWithRow(t)
    const prepared = await read()
    assert.equal((await prepared.get(id))?.[3], 7)
    await sql({ orm }, 'alter table kinds alter amount type text')
    await assert.rejects(async () => prepared.get(id), /cached plan must not change result type/)
    assert.equal((await (await read()).get(id))?.[3], '7')
  })
})
