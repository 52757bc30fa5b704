import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { describe, type TestContext, test } from 'node:test'
import { format } from 'node:util'
import Database from 'better-sqlite3'
import { v7 as uuidv7 } from 'uuid'
import { UsedChallenge } from '../account/passkeys/challenges.ts'
import { databaseName } from '../database/database-url.ts'
import { openDatabase } from '../database/open-database.ts'
import { queueMail } from '../mail/mail-queue.ts'
import { schema } from '../schema.ts'
import { sql } from '../testing/database.ts'
import {
  addAdmin,
  basic,
  bearer,
  password,
  signIn,
  signUp,
  takeResetToken,
  takeToken,
} from '../testing/people.ts'
import { assertRefused, type Outcome, runCommand } from '../testing/run-command.ts'
import { turnOnApp } from '../testing/second-factor.ts'
import { temporaryFolder } from '../testing/server-process.ts'
import { startSite } from '../testing/site.ts'
import { storePasskey } from '../testing/store-passkey.ts'
import { isOnPostgres, makeEmptyDatabase, onlyPostgres } from '../testing/test-database.ts'
import { Admin } from '../users/admin.ts'
import { User } from '../users/user.ts'
import { problemOf } from './command-error.ts'
import { copyDatabase } from './copy-database/copy-database.ts'

const tables = [
  ...['users', 'admins', 'user_tokens', 'one_time_tokens'],
  ...['sessions', 'devices', 'events', 'attempts', 'mails', 'passkeys', 'used_challenges'],
  ...['totp_factors', 'recovery_codes', 'pending_sign_ins'],
]

const SECRETS_KEY = `key:${randomBytes(32).toString('base64')}`

/** Runs a copy in this process. */
async function copy(...words: string[]): Promise<Outcome> {
  try {
    return { code: 0, out: `${await copyDatabase(words)}\n`, errors: '' }
  } catch (error) {
    return { code: 1, out: '', errors: format('%s\n', problemOf(error)) }
  }
}

/** An SQLite database with a user and an admin, and the URL of an empty database, on PostgreSQL if `TEST_DATABASE_URL` is set. */
async function openSmall(t: TestContext) {
  const folder = await temporaryFolder(t)
  const from = `sqlite:${folder}/from.sqlite`
  const orm = await openDatabase(from, schema)
  const email = 'ada@example.com'
  const em = orm.em.fork()
  for (const entity of [User, Admin])
    em.create(entity, { name: 'Ada', email, emailKey: email, passwordHash: '$2b$04$secret' })
  await em.flush()
  await orm.close()
  return { folder, from, to: await emptyDatabase(t, folder) }
}

/** A site on SQLite with rows in every table, and the URL of an empty database as in `openSmall`. */
async function openFull(t: TestContext) {
  const folder = await temporaryFolder(t)
  const from = `sqlite:${folder}/from.sqlite`
  const site = await startSite(t, { DATABASE_URL: from, THROTTLE: 'on', SECRETS_KEY })
  const [ada, bob] = [await signUp(site, 'Ada'), await signUp(site, 'Böb', { email: 'bob@example.com' })]
  const visitor = await signIn(site, ada, { remember: true })
  const token = await takeToken(site, bob)
  const link = await takeResetToken(site, bob)
  const admin = await addAdmin(site)
  await queueMail(site.orm.em.fork(), { kind: 'reset', to: bob.email, userId: bob.id })
  await storePasskey(site, bob)
  const now = new Date(1_700_000_000_123)
  await site.orm.em.fork().insert(UsedChallenge, { digest: 'A'.repeat(43), createdAt: now, expiresAt: now })
  const app = await turnOnApp(site, bob)
  await site.visitor().form('/login', { username: bob.email, password, next: '/account' })
  assert.equal((await site.visitor().get('/me', basic(ada, 'wrong'))).status, 401)
  await sql(site, 'update users set disabled_at = 1 where id = ?', [(await signUp(site, 'Eve')).id])
  return { folder, from, to: await emptyDatabase(t, folder), ada, bob, admin, visitor, token, link, app }
}

async function emptyDatabase(t: TestContext, folder: string): Promise<string> {
  if (!isOnPostgres) return `sqlite:${folder}/to.sqlite`
  const { url, drop } = await makeEmptyDatabase()
  t.after(drop)
  return url
}

/** All rows of an SQLite file. */
function dump(databaseUrl: string): Record<string, unknown[]> {
  const file = new Database(databaseName(databaseUrl))
  const rows = tables.map((table) => [table, file.prepare(`select * from ${table} order by 1, 2`).all()])
  file.close()
  return Object.fromEntries(rows)
}

/** The number of rows of each table. */
async function counts(t: TestContext, databaseUrl: string): Promise<number[]> {
  const orm = await openDatabase(databaseUrl, { ...schema, timeout: 60_000 })
  t.after(() => orm.close())
  const rows = tables.map((table) => sql({ orm }, `select count(*) as n from ${table}`))
  return (await Promise.all(rows)).map(([row]) => Number(row?.n))
}

async function assertEmpty(t: TestContext, databaseUrl: string): Promise<void> {
  assert.deepEqual(new Set(await counts(t, databaseUrl)), new Set([0]))
}

/** Creates the tables of a database, and runs statements on it. */
async function prepare(databaseUrl: string, ...statements: string[]): Promise<void> {
  const orm = await openDatabase(databaseUrl, schema)
  for (const statement of statements) await sql({ orm }, statement)
  await orm.close()
}

const databaseFailed =
  /^The database failed: [\w ]+\. Either all changes were saved or none\. Run the command again\.\n$/

describe('copyDatabase', () => {
  test('keeps sessions, tokens, links, passwords, authenticator apps and disabled accounts', async (t) => {
    const { from, to, ada, bob, admin, visitor, token, link, app } = await openFull(t)
    const { code, errors, out } = await copy(from, to)

    assert.deepEqual([code, errors], [0, ''])
    assert.match(out, /^users: 3 rows\n/)
    assert.ok(out.endsWith(`\nCopied ${databaseName(from)} to ${databaseName(to)}.\n`))
    const copied = await startSite(t, { DATABASE_URL: to, SECRETS_KEY })
    assert.equal((await copied.visitor(visitor.session).get('/me')).record.id, ada.id)
    assert.equal((await copied.visitor().get('/me', bearer(token))).record.id, bob.id)
    assert.equal((await copied.visitor().page(`/reset?token=${link}`)).status, 200)
    assert.equal((await copied.visitor().get('/secure', basic(admin))).record.id, admin.id)
    const signIn = { username: bob.email, password, code: app.nextCode() }
    assert.equal((await copied.visitor().json('/login', signIn)).record.name, 'Böb')
    const eve = { email: 'eve@example.com' }
    assert.equal((await copied.visitor().post('/login?as=user', basic(eve))).status, 401)
  })

  test('copies every row of several batches unchanged, in both directions', async (t) => {
    const { from, to, folder, ada, bob } = await openFull(t)
    const file = new Database(databaseName(from))
    const addDevice = file.prepare('insert into devices (digest, user_id, seen_at) values (?, ?, ?)')
    const addEvent = file.prepare(
      `insert into events (id, at, event, user_id, address, user_agent, request) values (?, ?, 'signed in', null, '::1', ?, '')`,
    )
    file.transaction(() => {
      for (let i = 0; i < 500; i += 1)
        for (const { id } of [ada, bob]) addDevice.run(`digest-${i}`, id, 1_700_000_000_123 + i)
      for (let i = 0; i < 501; i += 1) addEvent.run(uuidv7(), 1_700_000_000_123 + i, `'"\\N\t\n\r ?é😀 ${i}`)
    })()
    file.close()
    const before = dump(from)
    for (const table of tables) assert.notEqual(before[table]?.length, 0, table)
    const back = `sqlite:${folder}/new/back.sqlite`

    assert.equal((await copy(from, to)).errors, '')
    assert.equal((await copy(to, back)).errors, '')
    assert.deepEqual(dump(back), before)
    assert.deepEqual(dump(from), before)
  })

  test('rejects a target with rows, and changes nothing there', async (t) => {
    const { from, to, folder } = await openSmall(t)
    await copy(from, to)
    const before = await counts(t, to)
    const isNotEmpty = /^\S+ is not empty: users has rows\. Nothing was copied\. Name an empty database\.\n$/
    assertRefused(await copy(from, to), isNotEmpty)
    assertRefused(await copy(from, from), isNotEmpty)
    assert.deepEqual(await counts(t, to), before)

    const older = `${folder}/older.sqlite`
    await copy(from, `sqlite:${older}`)
    const file = new Database(older)
    file.exec("delete from mikro_orm_migrations where name like '%devices'; drop index devices_seen_at_index")
    assertRefused(await copy(from, `sqlite:${older}`), isNotEmpty)
    assert.equal(
      file.prepare('select 1 from mikro_orm_migrations').all().length,
      schema.migrations.length - 1,
    )
    file.close()
  })

  test('leaves the target empty if a row cannot be copied', async (t) => {
    const { from, to } = await openSmall(t)
    // PostgreSQL limits the length of a string, and SQLite does not.
    if (isOnPostgres) await prepare(from, `update admins set name = '${'x'.repeat(300)}'`)
    else await prepare(to, "create trigger no before insert on admins begin select raise(abort, 'no'); end")

    assertRefused(await copy(from, to), databaseFailed)
    await assertEmpty(t, to)
  })

  test('explains a failed commit, and shows no values of a row', async (t) => {
    const { from, to } = await openSmall(t)
    const statements = isOnPostgres
      ? [
          `create function no() returns trigger language plpgsql as
           'begin raise exception ''%'', new.password_hash; end'`,
          'create constraint trigger no after insert on users deferrable initially deferred for each row execute function no()',
        ]
      : [
          'create table parents (id integer primary key)',
          'create table children (id integer references parents deferrable initially deferred)',
          'create trigger no after insert on users begin insert into children values (1); end',
        ]
    await prepare(to, ...statements)

    assertRefused(await copy(from, to), databaseFailed)
    await assertEmpty(t, to)
  })

  test('rejects a source of another version, and a newer target', async (t) => {
    const { from, to, folder } = await openSmall(t)
    const change = async (name: string, statement: string) => {
      await prepare(`sqlite:${folder}/${name}`, statement)
      return `sqlite:${folder}/${name}`
    }
    const newer = await change(
      'newer.sqlite',
      "insert into mikro_orm_migrations (name, executed_at) values ('29990101-future', 0)",
    )
    const older = await change('older.sqlite', "delete from mikro_orm_migrations where name like '%devices'")

    assertRefused(
      await copy(newer, to),
      /newer\.sqlite is newer than this program: it has the migration 29990101-future\. Start a newer version\.\n$/,
    )
    assertRefused(
      await copy(from, newer),
      /^The database \S+ is newer than this program: it has the migration 29990101-future\. .*\n$/,
    )
    assertRefused(
      await copy(older, to),
      /older\.sqlite is older than this program: it lacks the migration \S+-devices\. .*\n$/,
    )
  })

  test('explains a mistake in one line, and shows no password', async (t) => {
    const { from, to, folder } = await openSmall(t)
    await writeFile(`${folder}/text.sqlite`, 'no database '.repeat(1000))
    new Database(`${folder}/foreign.sqlite`).exec('create table cats (name text)').close()
    const offline = 'postgres://me:hunter2@127.0.0.1:1/site'
    const unreachable =
      /^The database postgres:\/\/127\.0\.0\.1:1\/site cannot be used: \w+\. Check the server and its URL\.\n$/

    assertRefused(await copy(from), /^Name two databases: npm run copy-database -- FROM TO\n$/)
    assertRefused(await copy(from, to, to), /^Name two databases/)
    assertRefused(await copy('site.sqlite', to), /^FROM must be sqlite:PATH or postgres:\/\/.*\n$/)
    assertRefused(await copy(from, 'postgres://me:hunter2@host'), /^TO must be sqlite:PATH or .*\n$/)
    assertRefused(await copy(from, 'sqlite::memory:'), /^TO must be sqlite:PATH or .*\n$/)
    assertRefused(
      await copy(`sqlite:${folder}/none`, to),
      /^The database .*none does not exist\. Check FROM\.\n$/,
    )
    assertRefused(
      await copy(`sqlite:${folder}/text.sqlite`, to),
      /^The database .*text\.sqlite cannot be used: SQLITE_NOTADB\. .*\n$/,
    )
    assertRefused(
      await copy(`sqlite:${folder}/foreign.sqlite`, to),
      /foreign\.sqlite is not a database of this site\. Check FROM\.\n$/,
    )
    assertRefused(await copy(from, offline), unreachable)
    assertRefused(await copy(offline, to), unreachable)
  })
})

describe('npm run copy-database', () => {
  const run = (...words: string[]) =>
    runCommand(['commands/copy-database', ...words], { PATH: process.env.PATH })

  test('exits with 0 after a copy, and prints the problem and exits with 1 if it cannot copy', async (t) => {
    const { from, to } = await openSmall(t)
    const { code, out, errors } = await run(from, to)
    assert.deepEqual([code, errors], [0, ''])
    assert.match(out, /^users: 1 rows\n/)
    assertRefused(await run(from, to), /is not empty: users has rows/)
  })

  test('reports a connection that is lost during the copy', onlyPostgres, async (t) => {
    const { from, to } = await openSmall(t)
    await prepare(
      to,
      `create function lose() returns trigger language plpgsql as
       'begin perform pg_terminate_backend(pg_backend_pid()); return new; end'`,
      'create trigger lose before insert on admins for each row execute function lose()',
    )

    assertRefused(await run(from, to), databaseFailed)
    await assertEmpty(t, to)
  })

  test('reports a source that is lost while its rows are read', onlyPostgres, async (t) => {
    const { from, to: source, folder } = await openSmall(t)
    const file = new Database(databaseName(from))
    const addEvent = file.prepare(
      `insert into events (id, at, event, user_id, address, user_agent, request) values (?, 1, 'signed in', null, '', '', '')`,
    )
    file.transaction(() => {
      for (let i = 0; i < 1_500; i += 1) addEvent.run(uuidv7())
    })()
    file.close()
    assert.equal((await copy(from, source)).code, 0)
    const to = await emptyDatabase(t, folder)
    await prepare(
      to,
      `create function lose() returns trigger language plpgsql as
       'begin perform pg_terminate_backend(pid, 1000) from pg_stat_activity where datname = ''${new URL(source).pathname.slice(1)}''; return new; end'`,
      'create trigger lose after insert on events for each statement execute function lose()',
    )

    assertRefused(await run(source, to), databaseFailed)
    await assertEmpty(t, to)
  })

  test('copies a source that is in use, without locking it', async (t) => {
    const folder = await temporaryFolder(t)
    const from = `sqlite:${folder}/from.sqlite`
    const to = await emptyDatabase(t, folder)
    const site = await startSite(t, { DATABASE_URL: from }, { databaseTimeout: 2_000 })
    const visitor = await signIn(site, await signUp(site))
    let isDone = false
    const copying = run(from, to).finally(() => {
      isDone = true
    })
    // Each request writes to the source, and gets 503 if the source stays locked for two seconds.
    for (let number = 0; !isDone; number += 1)
      assert.equal((await visitor.form('/account/name', { name: `Ada ${number}` })).status, 303)

    assert.deepEqual([(await copying).code, (await copying).errors], [0, ''])
  })
})
