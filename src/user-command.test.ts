import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { databaseName } from './database/database-url.ts'
import { addAdmin, basic, bearer, signIn, signUp, takeJWT, takeToken } from './testing/people.ts'
import { type Site, startSite } from './testing/site.ts'
import { onlySqlite } from './testing/test-database.ts'
import { Admin } from './users/admin.ts'
import { User } from './users/user.ts'

const another = 'correct horse battery'
const writers = 'in PostgreSQL many write at a time'

interface Outcome {
  readonly code: number | null
  readonly out: string
  readonly errors: string
}

/** The site at work, and the operator's command beside it. */
async function open(t: TestContext, environment = {}) {
  const site = await startSite(t, environment)
  const { dataDir, databaseUrl } = site.config
  const user = async (words: string, input = '', variables = {}): Promise<Outcome> => {
    const program = [
      join(import.meta.dirname, 'start.js'),
      'user-command',
      ...words.split(' ').filter(Boolean),
    ]
    const env = { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, BCRYPT_COST: '4', ...variables }
    const child = spawn(process.execPath, program, { env })
    // A command that fails at once does not wait for its input.
    child.stdin.on('error', () => {}).end(input)
    const [[code], out, errors] = await Promise.all([
      once(child, 'close'),
      text(child.stdout),
      text(child.stderr),
    ])
    return { code, out, errors }
  }
  return { site, user, database: databaseName(databaseUrl), em: () => site.orm.em.fork() }
}

/** Everything that lets Ada in: a session, a token, a signed token. */
async function letIn(site: Site, ada: { email: string }) {
  const visitor = await signIn(site, ada)
  const [token, jwt] = [await takeToken(site, ada), await takeJWT(site, ada)]
  const statuses = async () => {
    const anybody = site.visitor()
    const answers = [
      await visitor.get('/me'),
      await anybody.get('/me', bearer(token)),
      await anybody.get('/me', bearer(jwt)),
    ]
    return answers.map(({ status }) => status)
  }
  assert.deepEqual(await statuses(), [200, 200, 200])
  return statuses
}

async function passwordStatus(site: Site, person: { email: string }, secret?: string): Promise<number> {
  return (await site.visitor().post('/login?as=user', basic(person, secret))).status
}

function refused({ code, out, errors }: Outcome, reason: RegExp): void {
  assert.match(errors, reason)
  assert.deepEqual({ code, out }, { code: 1, out: '' })
  assert.doesNotMatch(errors, /\n\s+at |insert into|\$2b\$/)
}

describe('npm run user', () => {
  test('prints its help, and the way to it when the command line makes no sense', async (t) => {
    const { user } = await open(t)
    const [help, senseless] = [await user('--help'), await user('frob')]

    assert.deepEqual([help.code, help.errors, senseless.code, senseless.out], [0, '', 2, ''])
    assert.match(help.out, /set-password/)
    assert.match(senseless.errors, /^There is no command frob\..*\nHelp: /)
  })

  test('says in a line what is wrong with the environment or the database', async (t) => {
    const { user, site } = await open(t)
    const DATABASE_URL = `sqlite:${site.config.dataDir}`

    refused(await user('list', '', { BCRYPT_COST: '99' }), /^BCRYPT_COST must be .*\n$/)
    refused(await user('list', '', { DATABASE_URL }), /^The database .* cannot be (used|opened): .*\n$/)
  })

  test(
    'waits while somebody else writes, and changes nothing when that takes too long',
    onlySqlite(writers),
    async (t) => {
      const { user, em, database, site } = await open(t)
      await signUp(site)
      const other = new Database(database)
      other.exec('begin immediate')

      refused(await user('disable ada@example.com'), /^The database .*SQLITE_BUSY.*\n$/)
      assert.equal(await em().count(User), 1)

      const waiting = user('disable ada@example.com')
      setTimeout(() => other.exec('rollback').close(), 1000)
      assert.equal((await waiting).code, 0)
      assert.equal(await em().count(User), 0)
    },
  )
})

describe('add', () => {
  test('makes a user who can sign in', async (t) => {
    const { site, user, em, database } = await open(t)
    const outcome = await user('add Ada@example.com --name Ada', `${another}\n`)

    assert.deepEqual(outcome, {
      code: 0,
      out: `Added the user Ada@example.com to ${database}.\n`,
      errors: '',
    })
    assert.equal(await passwordStatus(site, { email: 'Ada@example.com' }, another), 200)
    const { name, emailKey } = await em().findOneOrFail(User, { email: 'Ada@example.com' })
    assert.deepEqual([name, emailKey], ['Ada', 'ada@example.com'])
  })

  test('makes a database that nobody else can read, though the folder can be read by all', async (t) => {
    if (process.platform === 'win32') return t.skip('Windows has other rights.')
    const { user, site } = await open(t)
    const folder = join(site.config.dataDir, 'another')
    await mkdir(folder)
    await chmod(folder, 0o755)
    const { code } = await user('add ada@example.com --name Ada', `${another}\n`, {
      DATA_DIR: folder,
      DATABASE_URL: '',
    })
    const files = await readdir(folder)

    assert.equal(code, 0)
    assert.ok(files.includes('site.sqlite'))
    for (const file of files) assert.equal((await stat(join(folder, file))).mode & 0o077, 0, file)
  })

  test('makes an admin, who is no user', async (t) => {
    const { site, user, em } = await open(t)
    const { out } = await user('add ada@example.com --name Ada --admin', `${another}\r\n`)
    const { record } = await site.visitor().get('/secure', basic({ email: 'ada@example.com' }, another))

    assert.match(out, /^Added the admin ada@example\.com /)
    assert.equal(record.as, 'Admin')
    assert.equal(await em().count(User), 0)
  })

  test('makes a password and shows it', async (t) => {
    const { site, user } = await open(t)
    const { out } = await user('add ada@example.com --name Ada --generate')
    const [, made = ''] = /shown this once: (\S+)\n$/.exec(out) ?? []

    assert.match(made, /^([a-z2-9]{5}-){3}[a-z2-9]{5}$/)
    assert.equal(await passwordStatus(site, { email: 'ada@example.com' }, made), 200)
  })

  test('makes the database too, if the site has never run', async (t) => {
    const { user, site } = await open(t)
    const DATABASE_URL = `sqlite:${site.config.dataDir}/new/site.sqlite`

    assert.equal((await user('add ada@example.com --name Ada', another, { DATABASE_URL })).code, 0)
    assert.match((await user('list', '', { DATABASE_URL })).out, /ada@example\.com/)
  })

  test('has the rules of sign-up', async (t) => {
    const { user, em } = await open(t)
    const ada = 'add ada@example.com --name Ada'

    refused(await user('add ada --name Ada', another), /^Enter an e-mail address like/)
    refused(await user('add ada@example.com --name \u202Eada', another), /^The name contains/)
    refused(await user(ada, 'ada@example.com\n'), /made of your e-mail/)
    refused(await user(ada, ''), /^No password came/)
    assert.equal(await em().count(User), 0)
  })

  test('makes one account of several attempts at the same time, whatever the case of the address', async (t) => {
    const { user, em } = await open(t)
    const attempts = ['ada', 'Ada', 'ADA'].map((name) => user(`add ${name}@example.com --name Ada`, another))
    const codes = (await Promise.all(attempts)).map(({ code }) => code)

    assert.deepEqual(codes.toSorted(), [0, 1, 1])
    refused(
      await user('add aDa@example.com --name Ada', another),
      /^There is already the user aDa@example\.com/,
    )
    assert.equal(await em().count(User), 1)
  })
})

describe('list', () => {
  test('shows a table, or JSON for a program, and never a hash', async (t) => {
    const { site, user } = await open(t)
    await signUp(site, 'Bob')
    await signUp(site, 'Ada', { email: 'ada.lovelace@example.com' })
    await user('disable bob@example.com')

    const { out } = await user('list')
    const lines = out.replace(/\d{4}-\d\d-\d\d/g, 'YYYY-MM-DD').split('\n')
    assert.deepEqual(lines, [
      'E-MAIL                    STATE     CREATED     NAME',
      'ada.lovelace@example.com  active    YYYY-MM-DD  Ada',
      'bob@example.com           disabled  YYYY-MM-DD  Bob',
      '',
    ])

    const [ada, bob] = JSON.parse((await user('list --json')).out)
    assert.deepEqual(Object.keys(ada), ['id', 'name', 'email', 'createdAt', 'disabledAt'])
    assert.deepEqual(
      [ada.email, ada.disabledAt, bob.email],
      ['ada.lovelace@example.com', null, 'bob@example.com'],
    )
    assert.ok(Date.parse(bob.disabledAt))
  })

  test('says when there is nobody', async (t) => {
    const { user, database } = await open(t)

    assert.equal((await user('list')).out, `There are no users in ${database} yet.\n`)
    assert.deepEqual(JSON.parse((await user('list --admin --json')).out), [])
  })
})

describe('set-password', () => {
  test('changes the password, and ends sessions and tokens of this user alone', async (t) => {
    const { site, user } = await open(t)
    const [ada, bob] = [await signUp(site, 'Ada'), await signUp(site, 'Bob')]
    const [forAda, forBob] = [await letIn(site, ada), await letIn(site, bob)]
    const { code, out } = await user('set-password ada@example.com', `${another}\n`)

    assert.equal(code, 0)
    assert.equal(out, 'The user ada@example.com has a new password. Sessions and tokens have ended.\n')
    assert.deepEqual([await passwordStatus(site, ada), await passwordStatus(site, ada, another)], [401, 200])
    assert.deepEqual((await forAda()).slice(0, 2), [401, 401])
    assert.deepEqual(await forBob(), [200, 200, 200])
  })

  test('lets whoever had guessed too often sign in with it at once, and nobody else', async (t) => {
    const { site, user } = await open(t, { THROTTLE: 'on' })
    const [ada, bob] = [await signUp(site, 'Ada'), await signUp(site, 'Bob')]
    for (const person of [ada, bob])
      for (let i = 0; i < 10; i++) assert.equal(await passwordStatus(site, person, 'a wrong guess'), 401)
    assert.equal(await passwordStatus(site, ada), 429)
    await user('set-password ada@example.com', another)

    assert.deepEqual([await passwordStatus(site, ada, another), await passwordStatus(site, bob)], [200, 429])
  })

  test('says when it was changed, from which on older signed tokens do not count', async (t) => {
    const { site, user, em } = await open(t)
    const { id } = await signUp(site)
    const before = new Date()
    await user('set-password ada@example.com', another)

    assert.ok((await em().findOneOrFail(User, id)).passwordChangedAt >= before)
  })

  test('changes nothing when the new one is refused', async (t) => {
    const { site, user } = await open(t)
    const ada = await signUp(site)
    const statuses = await letIn(site, ada)

    refused(await user('set-password ada@example.com', 'example.com\n'), /made of your e-mail/)
    assert.equal(await passwordStatus(site, ada), 200)
    assert.deepEqual(await statuses(), [200, 200, 200])
  })

  test('looks an account up by exactly its address, among users or among admins', async (t) => {
    const { site, user } = await open(t)
    await signUp(site)

    for (const words of ['ADA@example.com', 'ada@example.com --admin', "'or'1'='1"]) {
      refused(
        await user(`set-password ${words}`, another),
        /^There is no (user|admin) .* in .*(site\.sqlite|koa_test_\w+)\./,
      )
    }
  })
})

describe('disable, enable, delete', () => {
  test('disable lets nobody in and ends sessions and tokens; enable lets them in again', async (t) => {
    const { site, user, em } = await open(t)
    const ada = await signUp(site)
    const statuses = await letIn(site, ada)
    const disabledAt = async () => (await em().findOneOrFail(User, ada.id, { filters: false })).disabledAt

    const { out } = await user('disable ada@example.com')
    assert.equal(out, 'The user ada@example.com is disabled. Sessions and tokens have ended.\n')
    assert.deepEqual(await statuses(), [401, 401, 401])
    assert.equal(await passwordStatus(site, ada), 401)

    const first = await disabledAt()
    assert.equal((await user('disable ada@example.com')).code, 0)
    assert.deepEqual(await disabledAt(), first)
    await user('set-password ada@example.com', another)
    assert.equal(await passwordStatus(site, ada, another), 401)

    assert.equal((await user('enable ada@example.com')).out, 'The user ada@example.com may sign in.\n')
    assert.equal(await passwordStatus(site, ada, another), 200)
    assert.deepEqual((await statuses()).slice(0, 2), [401, 401])
  })

  test('delete removes the account with its sessions and tokens, disabled or not', async (t) => {
    const { site, user, em } = await open(t)
    const [ada] = [await signUp(site, 'Ada'), await signUp(site, 'Bob')]
    const statuses = await letIn(site, ada)
    await user('disable bob@example.com')

    assert.equal((await user('delete ada@example.com')).out, 'The user ada@example.com is deleted.\n')
    assert.equal((await user('delete bob@example.com')).code, 0)
    assert.deepEqual(await statuses(), [401, 401, 401])
    assert.equal(await em().count(User, {}, { filters: false }), 0)
    refused(await user('delete ada@example.com'), /^There is no user/)
  })

  test('an admin is told from a user of the same address', async (t) => {
    const { site, user, em } = await open(t)
    const [ada] = [await signUp(site, 'Ada'), await addAdmin(site, 'Ada')]
    const statuses = await letIn(site, ada)

    assert.equal((await user('disable ada@example.com --admin')).code, 0)
    assert.deepEqual([await em().count(Admin), await em().count(User)], [0, 1])
    assert.equal((await user('delete ada@example.com --admin')).code, 0)
    assert.equal(await em().count(Admin, {}, { filters: false }), 0)
    assert.deepEqual(await statuses(), [200, 200, 200])
  })
})
