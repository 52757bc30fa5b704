import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { v7 as uuidv7 } from 'uuid'
import { databaseName } from './database/database-url.ts'
import { openDatabase } from './database/open-database.ts'
import { sql } from './testing/database.ts'
import { addAdmin, basic, bearer, signIn, signUp, takeToken } from './testing/people.ts'
import { connectTo } from './testing/postgres-connection.ts'
import { temporaryFolder } from './testing/server-process.ts'
import { type Site, startSite } from './testing/site.ts'
import { isOnPostgres, makeEmptyDatabase, onlyPostgres } from './testing/test-database.ts'

const tables = ['users', 'user_tokens', 'sessions', 'events', 'devices', 'attempts', 'admins']

interface Outcome {
  readonly code: number | null
  readonly out: string
  readonly errors: string
}

/** Runs the command as an operator does. */
async function move(...words: string[]): Promise<Outcome> {
  const program = join(import.meta.dirname, 'start.js')
  const child = spawn(process.execPath, [program, 'move', ...words], { env: { PATH: process.env.PATH } })
  const [[code], out, errors] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ])
  return { code, out, errors }
}

/** A site on SQLite with something in every table, and a database without anything: on PostgreSQL if the tests are. */
async function open(t: TestContext) {
  const folder = await temporaryFolder(t)
  const from = `sqlite:${folder}/from.sqlite`
  const site = await startSite(t, { DATABASE_URL: from, THROTTLE: 'on' })
  const people = await settle(site)
  return { folder, from, site, ...people, to: await emptyDatabase(t, folder) }
}

async function emptyDatabase(t: TestContext, folder: string): Promise<string> {
  if (!isOnPostgres) return `sqlite:${folder}/to.sqlite`
  const { url, drop } = await makeEmptyDatabase()
  t.after(drop)
  return url
}

async function settle(site: Site) {
  const [ada, bob] = [await signUp(site, 'Ada'), await signUp(site, 'Böb', { email: 'bob@example.com' })]
  const visitor = await signIn(site, ada, { remember: true })
  const token = await takeToken(site, bob)
  const admin = await addAdmin(site)
  assert.equal((await site.visitor().get('/me', basic(ada, 'wrong'))).status, 401)
  await sql(site, 'update users set disabled_at = 1 where id = ?', [(await signUp(site, 'Eve')).id])
  return { ada, bob, admin, visitor, token }
}

/** All rows as they stand in a file. */
function dump(databaseUrl: string): Record<string, unknown[]> {
  const file = new Database(databaseName(databaseUrl))
  try {
    return Object.fromEntries(
      tables.map((table) => [table, file.prepare(`select * from ${table} order by 1, 2`).all()]),
    )
  } finally {
    file.close()
  }
}

/** How many rows of a table the command says to have written: `ROWS ADDED CHANGED DELETED`. */
function counts({ out }: Outcome, table: string): number[] {
  const [line = ''] = out.split('\n').filter((each) => each.startsWith(`${table} `))
  return line
    .split(/\s+/)
    .slice(1)
    .map((each) => Number(each.replace(',', '')))
}

function refused({ code, out, errors }: Outcome, reason: RegExp): void {
  assert.match(errors, reason)
  assert.deepEqual({ code, out }, { code: 1, out: '' })
  assert.doesNotMatch(errors, /\n\s+at |insert into|hunter2|\$2b\$/)
}

describe('npm run move', () => {
  test('takes everybody along: sessions, tokens and passwords go on to count', async (t) => {
    const { from, to, ada, bob, admin, visitor, token } = await open(t)
    const outcome = await move(from, to)

    assert.deepEqual([outcome.code, outcome.errors], [0, ''])
    assert.ok(
      outcome.out.endsWith(
        `${databaseName(to)} has now what ${databaseName(from)} has: every row was compared.\n`,
      ),
    )
    const moved = await startSite(t, { DATABASE_URL: to })
    assert.equal((await moved.visitor(visitor.session).get('/me')).record.id, ada.id)
    assert.equal((await moved.visitor().get('/me', bearer(token))).record.id, bob.id)
    assert.equal((await moved.visitor().get('/secure', basic(admin))).record.id, admin.id)
    assert.equal((await moved.visitor().post('/login?as=user', basic(bob))).record.name, 'Böb')
    const eve = { email: 'eve@example.com' }
    assert.equal((await moved.visitor().post('/login?as=user', basic(eve))).status, 401)
  })

  test('copies every row as it is, more of them than fit into a statement, there and back again', async (t) => {
    const { from, to, site, folder, ada, bob, admin } = await open(t)
    const file = new Database(databaseName(from))
    const addDevice = file.prepare('insert into devices (digest, user_id, seen_at) values (?, ?, ?)')
    const addEvent = file.prepare(
      `insert into events (id, at, event, user_id, address, user_agent, request) values (?, ?, 'signed in', null, '::1', ?, '')`,
    )
    const third = await signUp(site, 'Third')
    file.transaction(() => {
      // Three of each digest, so that a batch ends between two of the same.
      for (let i = 0; i < 1_200; i += 1)
        addDevice.run(`digest-${Math.floor(i / 3)}`, [ada, bob, third][i % 3]?.id, i)
      for (let i = 0; i < 1_001; i += 1) addEvent.run(uuidv7(), 1_700_000_000_123 + i, `'"\\ é😀 ${i}`)
    })()
    file.close()
    const before = dump(from)
    const there = await move(from, to)
    const back = await move(to, `sqlite:${folder}/back.sqlite`)

    assert.deepEqual([there.errors, back.errors, admin.name], ['', '', 'Grace'])
    for (const table of tables) assert.notEqual(before[table]?.length, 0, table)
    assert.deepEqual(dump(`sqlite:${folder}/back.sqlite`), before)
    assert.deepEqual(dump(from), before)
    for (const table of tables) {
      const rows = before[table]?.length
      assert.deepEqual(counts(there, table), [rows, rows, 0, 0], table)
    }
  })

  test('can be run again: it copies what is new, writes what has changed, and deletes what is gone', async (t) => {
    const { from, to, site, ada, visitor, folder } = await open(t)
    await move(from, to)
    await signUp(site, 'New')
    await sql(site, "update users set name = 'Ada Lovelace' where id = ?", [ada.id])
    await visitor.post('/logout')
    await sql(site, 'delete from users where email = ?', ['bob@example.com'])
    const again = await move(from, to)
    const once = await move(from, to)
    await move(to, `sqlite:${folder}/back.sqlite`)

    assert.equal(again.errors, '')
    assert.deepEqual(counts(again, 'users'), [3, 1, 1, 1])
    assert.deepEqual(counts(again, 'sessions').slice(1), [0, 0, 1])
    assert.deepEqual(counts(again, 'user_tokens').slice(1), [0, 0, 1])
    assert.deepEqual(counts(once, 'users'), [3, 0, 0, 0])
    assert.deepEqual(dump(`sqlite:${folder}/back.sqlite`), dump(from))
  })

  test('leaves a database alone that holds rows of its own, a copy that was used since among them', async (t) => {
    const { from, to, site, folder } = await open(t)
    const other = await startSite(t, { DATABASE_URL: `sqlite:${folder}/other.sqlite` })
    const zoe = await signUp(other, 'Zoe')
    const reason =
      /holds rows of users that are not those of .*: take an empty database\. Nothing was changed\.\n$/
    refused(await move(from, `sqlite:${folder}/other.sqlite`), reason)
    assert.equal((await other.visitor().post('/login?as=user', basic(zoe))).status, 200)

    await move(from, to)
    refused(await move(`sqlite:${folder}/other.sqlite`, to), reason)
    const moved = await startSite(t, { DATABASE_URL: to })
    const used = /was used since it was copied from .*: take an empty database\. Nothing was changed\.\n$/
    await sql(moved, 'delete from users where email = ?', ['bob@example.com'])
    refused(await move(from, to), used)
    await signUp(moved, 'Zoe')
    await signUp(site, 'New')
    refused(await move(from, to), used)
    assert.equal((await moved.visitor().post('/login?as=user', basic(zoe))).status, 200)
  })

  test('copies what was there at one moment, and keeps nobody from signing in meanwhile', async (t) => {
    const { from, to, site, bob } = await open(t)
    let isOver = false
    const moving = move(from, to).finally(() => {
      isOver = true
    })
    // Each is a session more, or is refused, which fails the test.
    while (!isOver) await signIn(site, bob)
    const { code, errors, out } = await moving

    assert.deepEqual([code, errors], [0, ''])
    assert.match(out, /every row was compared\.\n$/)
  })

  test('overwrites nothing that somebody writes to the target meanwhile', onlyPostgres, async (t) => {
    const { from, to, bob } = await open(t)
    await move(from, to)
    const other = await connectTo(to)
    const writing = await other.begin()
    await other.execute('update users set name = ? where id = ?', ['Robert', bob.id], 'run', writing)
    let isOver = false
    const moving = move(from, to).finally(() => {
      isOver = true
    })
    const waits = `select 1 from pg_locks where not granted
      and database = (select oid from pg_database where datname = current_database())`
    while (!isOver && (await other.execute(waits, [], 'all', writing)).length === 0) await sleep(20)
    await other.commit(writing)
    refused(await moving, /was used since it was copied from/)
    const [found] = await other.execute('select name from users where id = ?', [bob.id])
    assert.equal(found?.name, 'Robert')
  })

  test('changes nothing at all when there is a row that cannot be copied', async (t) => {
    const { from, to, site } = await open(t)
    const target = await openDatabase(to)
    t.after(() => target.close())
    // Longer than the entity says, which SQLite does not mind.
    if (isOnPostgres) await sql(site, 'update sessions set user_agent = ?', ['x'.repeat(300)])
    else
      await sql(
        { orm: target },
        "create trigger no before insert on sessions begin select raise(abort, 'no'); end",
      )

    refused(await move(from, to), /^Rows of sessions could not be copied: \w+\. Nothing was changed\.\n$/)
    for (const table of tables)
      assert.equal(Number((await sql({ orm: target }, `select count(*) as n from ${table}`))[0]?.n), 0, table)
  })

  test('says in a line what is wrong, and never a password', async (t) => {
    const { from, to, folder } = await open(t)
    await symlink(databaseName(from), `${folder}/alias.sqlite`)
    await writeFile(`${folder}/text.sqlite`, 'no database '.repeat(1000))
    new Database(`${folder}/foreign.sqlite`).exec('create table cats (name text)').close()
    const versions = async (name: string, statement: string) => {
      await (await openDatabase(`sqlite:${folder}/${name}`)).close()
      new Database(`${folder}/${name}`).exec(statement).close()
      return `sqlite:${folder}/${name}`
    }
    const newer = await versions(
      'newer.sqlite',
      "insert into mikro_orm_migrations (name, executed_at) values ('29990101-future', 0)",
    )
    const older = await versions(
      'older.sqlite',
      "delete from mikro_orm_migrations where name like '%devices'",
    )
    const away = 'postgres://me:hunter2@127.0.0.1:1/site'

    refused(await move(from), /^It takes two databases: npm run move -- FROM TO\n$/)
    refused(await move(from, to, to), /^It takes two databases/)
    refused(await move('site.sqlite', to), /^FROM must be sqlite:PATH or postgres:\/\/.*\n$/)
    refused(await move(from, 'postgres://me:hunter2@host'), /^TO must be sqlite:PATH or postgres:\/\/.*\n$/)
    refused(await move(from, 'sqlite::memory:'), /^TO must be a database that stays\.\n$/)
    refused(await move(from, from), /^FROM and TO are the same database\.\n$/)
    refused(await move(from, `sqlite:${folder}/alias.sqlite`), /^FROM and TO are the same database\.\n$/)
    refused(await move(`sqlite:${folder}/none.sqlite`, to), /^There is no database .*none\.sqlite\.\n$/)
    refused(
      await move(`sqlite:${folder}/text.sqlite`, to),
      /^The database .*text\.sqlite cannot be used: SQLITE_NOTADB\.\n$/,
    )
    refused(
      await move(`sqlite:${folder}/foreign.sqlite`, to),
      /foreign\.sqlite is no database of the site\.\n$/,
    )
    refused(await move(newer, to), /newer than this program: it has had the migration 29990101-future\./)
    refused(await move(from, newer), /newer than this program: it has had the migration 29990101-future\./)
    refused(await move(older, to), /older than this program: it has not had the migration .*-devices\./)
    refused(
      await move(from, away),
      /^The server of the database postgres:\/\/127\.0\.0\.1:1\/site cannot be reached: \w+\.\n$/,
    )
    refused(
      await move(away, to),
      /^The server of the database postgres:\/\/127\.0\.0\.1:1\/site cannot be reached: \w+\.\n$/,
    )
  })

  test('knows a database on a server by whatever name', onlyPostgres, async (t) => {
    const { from, to } = await open(t)
    await move(from, to)
    const other = new URL(to)
    other.hostname = 'localhost'

    refused(await move(to, other.href), /^FROM and TO are the same database\.\n$/)
  })

  test('explains itself', async () => {
    assert.match((await move('--help')).out, /^npm run move -- FROM TO\n/)
  })
})
