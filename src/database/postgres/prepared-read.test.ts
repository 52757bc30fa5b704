import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { isPostgres } from '../../auth/mikro-orm/postgres-read.ts'
import { prepareRead } from '../../auth/mikro-orm/prepared-read.ts'
import { rowOf } from '../../auth/testing/row-of.ts'
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
    for (let round = 0; round < 3; round += 1) assert.deepEqual(await rowOf(prepared, id), rows[0])
  })

  test('finds nobody where there is no row', async (t) => {
    const { read } = await databaseWithRow(t)
    const prepared = await read()
    for (let round = 0; round < 2; round += 1)
      assert.equal(await rowOf(prepared, id.replace('1', '2')), undefined)
  })

  test('finds nobody by a value that the column cannot have, and the connection goes on', async (t) => {
    const { orm, read } = await databaseWithRow(t)
    const prepared = await read()
    for (const wrong of ['x', '\0', `${id}\0`, '']) assert.equal(await rowOf(prepared, wrong), undefined)
    assert.deepEqual((await rowOf(prepared, id))?.[0], id)
    const amounts = await prepareRead(orm, { sql: 'select id from kinds where amount = ? limit 1', keys: [] })
    for (const wrong of ['x', 2 ** 31, 1.5, '7\0'])
      assert.equal(await rowOf(amounts ?? assert.fail(), wrong), undefined)
    assert.deepEqual(await rowOf(amounts ?? assert.fail(), 7), [id])
  })

  test('answers whoever asks in one turn by one question, each with their own row', async (t) => {
    const { orm, read } = await databaseWithRow(t)
    const ids = Array.from({ length: 100 }, (_, i) => id.replace(/.{4}$/, String(1000 + i)))
    for (const [i, id] of ids.entries())
      if (i % 3 > 0) await sql({ orm }, `insert into kinds (id, name, amount) values ('${id}', 'n', ${i})`)
    const prepared = await read()
    const statements = await recordStatements(t, orm)
    for (let round = 0; round < 3; round += 1) {
      const rows = await Promise.all(ids.map((id) => rowOf(prepared, id)))
      for (const [i, row] of rows.entries()) {
        assert.equal(row?.[0], i % 3 > 0 ? ids[i] : undefined)
        assert.equal(row?.[3], i % 3 > 0 ? i : undefined)
      }
    }
    // At most 16 in one: 100 take seven, of as many connections.
    assert.equal(statements.length, 3 * 7)
  })

  test('finds everybody else who is asked for together with a value that the column cannot have', async (t) => {
    const { orm, read } = await databaseWithRow(t)
    const prepared = await read()
    for (const wrong of ['x', '\0', `${id}\0`]) {
      const statements = await recordStatements(t, orm)
      const rows = await Promise.all(
        [id, wrong, wrong, id.replace('1', '2'), id].map(async (value) => rowOf(prepared, value)),
      )
      assert.deepEqual(
        rows.map((row) => row?.[0]),
        [id, undefined, undefined, undefined, id],
      )
      assert.equal(statements.length, 3)
    }
  })

  test('throws for whoever asks for a row that cannot be read, and for nobody else', async (t) => {
    const { orm } = await databaseWithRow(t)
    await sql({ orm }, `insert into kinds (id, amount) values ('${id.replace(/.$/, '2')}', 0)`)
    await sql({ orm }, 'create view parts as select id, 1 / amount as part from kinds')
    const parts = await prepareRead(orm, { sql: 'select id, part from parts where id = ? limit 1', keys: [] })
    assert.ok(parts)
    const ids = [id, id.replace(/.$/, '2'), id.replace(/.$/, '3'), id]
    const answers = await Promise.allSettled(ids.map(async (value) => rowOf(parts, value)))
    assert.deepEqual(
      answers.map((answer) => (answer.status === 'fulfilled' ? answer.value?.[1] : answer.reason.code)),
      [0, '22012', undefined, 0],
    )
  })

  test('finds all who ask together where the server is slow, and then has fewer of them wait for one another', async (t) => {
    const { orm } = await databaseWithRow(t)
    await sql({ orm }, 'create view slow as select id, pg_sleep(0.08)::text as slept from kinds')
    const slow = await prepareRead(orm, { sql: 'select id, slept from slow where id = ? limit 1', keys: [] })
    assert.ok(slow)
    const statements = await recordStatements(t, orm)
    const ask = async () => {
      const before = statements.length
      const rows = await Promise.all(Array.from({ length: 32 }, async () => rowOf(slow, id)))
      for (const row of rows) assert.equal(row?.[0], id)
      return statements.length - before
    }
    assert.deepEqual([await ask(), await ask()], [2, 8])
  })

  test('is not taken for that of another copy of the same program, on the same connection', async (t) => {
    const { orm } = await databaseWithRow(t)
    const connection = orm.em.getConnection()
    const pool: unknown = await connection.getNativeClient()
    if (!isPostgres(pool)) throw new Error('This is no pool of `pg`.')
    const readOf = async (copy: string, sql: string) => {
      const { readPostgres }: typeof import('../../auth/mikro-orm/postgres-read.ts') = await import(
        `../../auth/mikro-orm/postgres-read.ts?${copy}`
      )
      return readPostgres(pool, connection, sql)
    }
    const names = await readOf('first', 'select name from kinds where id = ? limit 1')
    const amounts = await readOf('second', 'select amount from kinds where id = ? limit 1')
    for (let round = 0; round < 3; round += 1)
      assert.deepEqual([await rowOf(names, id), await rowOf(amounts, id)], [['Ädä'], [7]])
  })

  test('throws for all who ask together where nobody can be answered, and asks once', async (t) => {
    const { orm, read } = await databaseWithRow(t)
    const prepared = await read()
    await rowOf(prepared, id)
    await sql({ orm }, 'drop table kinds')
    const statements = await recordStatements(t, orm)
    const answers = await Promise.allSettled([id, id, id].map(async (value) => rowOf(prepared, value)))
    for (const { status } of answers) assert.equal(status, 'rejected')
    assert.equal(statements.length, 1)
  })

  test('throws where a column is of another type by now, and is right when it is prepared again', async (t) => {
    const { orm, read } = await databaseWithRow(t)
    const prepared = await read()
    assert.equal((await rowOf(prepared, id))?.[3], 7)
    await sql({ orm }, 'alter table kinds alter amount type text')
    await assert.rejects(async () => rowOf(prepared, id), /cached plan must not change result type/)
    assert.equal((await rowOf(await read(), id))?.[3], '7')
  })
})
