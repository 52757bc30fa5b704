import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import type { EntityManager } from '@mikro-orm/core'
import Database from 'better-sqlite3'
import { openDatabase } from './database/open-database.ts'
import { Admin } from './users/admin.ts'
import { User } from './users/user.ts'
import { issueToken, UserToken } from './users/user-token.ts'
import { StoredSession } from './web/stored-session.ts'

const password = 'correct horse battery'
const another = 'staple the horse again'

interface Outcome {
  code: number | null
  out: string
  errors: string
}

/** The operator's command on a database of its own, which the test has open as well, as a running server would. */
async function operator(t: TestContext) {
  const dataDir = await mkdtemp(join(tmpdir(), 'operator-'))
  const orm = await openDatabase(`sqlite:${dataDir}/site.sqlite`)
  t.after(async () => {
    await orm.close()
    await rm(dataDir, { recursive: true })
  })

  const env = { DATA_DIR: dataDir, BCRYPT_COST: '4' }
  const user = async (words: string, input = '', variables = {}): Promise<Outcome> => {
    const start = [join(import.meta.dirname, 'start.js'), 'user-command', ...words.split(' ').filter(Boolean)]
    const child = spawn(process.execPath, start, { env: { ...env, ...variables } })
    const closed = new Promise<number | null>((resolve) => child.on('close', resolve))
    child.stdin.on('error', () => {}).end(input)
    const [code, out, errors] = await Promise.all([closed, text(child.stdout), text(child.stderr)])
    return { code, out, errors }
  }
  return { user, dataDir, em: () => orm.em.fork() }
}

async function signIn(em: EntityManager, email: string): Promise<void> {
  const user = await em.findOneOrFail(User, { email })
  const { value, expiresAt } = issueToken()
  const now = new Date()
  em.create(UserToken, { value, user, expiresAt })
  em.create(StoredSession, { digest: value, user, data: {}, kept: false, createdAt: now, seenAt: now })
  await em.flush()
}

async function accessOf(em: EntityManager): Promise<number> {
  return (
    (await em.count(UserToken, {}, { filters: false })) +
    (await em.count(StoredSession, {}, { filters: false }))
  )
}

function refused({ code, out, errors }: Outcome, reason: RegExp): void {
  assert.match(errors, reason)
  assert.deepEqual({ code, out }, { code: 1, out: '' })
  assert.doesNotMatch(errors, /\n\s+at |insert into|\$2b\$/)
}

describe('npm run user', () => {
  test('explains itself, all of it and each command', async (t) => {
    const { user } = await operator(t)

    for (const words of ['', '--help', '-h', 'help']) {
      const { code, out } = await user(words)
      assert.equal(code, 0)
      for (const name of ['add', 'list', 'set-password', 'disable', 'enable', 'delete'])
        assert.match(out, RegExp(`^  ${name} `, 'm'))
    }
    for (const name of ['add', 'list', 'set-password', 'disable', 'enable', 'delete']) {
      const { code, out } = await user(`${name} --help`)
      assert.equal(code, 0)
      assert.match(out, RegExp(`^npm run user -- ${name} `))
    }
  })

  test('does nothing on a command line that makes no sense', async (t) => {
    const { user, em } = await operator(t)
    const senseless = [
      'frob',
      'constructor',
      'add',
      'add a@b.co',
      'add --name Ada',
      'add a@b.co --name',
      'list all',
      'delete',
    ]
    const withSecrets = [
      'add a@b.co hunter2hunter2 --name Ada',
      'add a@b.co --name Ada --password=hunter2hunter2',
    ]

    for (const words of [...senseless, ...withSecrets, 'list --generate', 'delete a@b.co b@b.co']) {
      const { code, out, errors } = await user(words, `${password}\n`)
      assert.deepEqual({ code, out }, { code: 2, out: '' }, words)
      assert.match(errors, /\nHelp: npm run user -- --help\n$/)
    }
    assert.equal(await em().count(User), 0)
  })

  test('refuses to go on without the options that npm kept for itself', async (t) => {
    const { user } = await operator(t)
    const { code, errors } = await user('delete ada@example.com', '', { npm_config_admin: 'true' })

    assert.equal(code, 2)
    assert.match(errors, /npm run user -- COMMAND/)
  })

  test('says in a line what is wrong with the environment or the database', async (t) => {
    const { user, dataDir } = await operator(t)

    refused(await user('list', '', { BCRYPT_COST: '99' }), /^BCRYPT_COST must be .*\n$/)
    refused(
      await user('list', '', { DATABASE_URL: `sqlite:${dataDir}` }),
      /^The database .* cannot be (used|opened).*\n$/,
    )
  })
})

describe('add', () => {
  test('makes a user who can sign in', async (t) => {
    const { user, em, dataDir } = await operator(t)
    const { code, out, errors } = await user('add Ada@example.com --name Ada', `${password}\n`)

    assert.deepEqual(
      { code, out, errors },
      {
        code: 0,
        out: `Added the user Ada@example.com to ${dataDir}/site.sqlite.\n`,
        errors: '',
      },
    )
    const ada = await em().findOneOrFail(User, { email: 'Ada@example.com' })
    assert.deepEqual([ada.name, ada.emailKey, ada.disabledAt ?? null], ['Ada', 'ada@example.com', null])
    assert.equal(await ada.verify(password), true)
  })

  test('makes the database too, at the first start', async (t) => {
    const { user, dataDir } = await operator(t)
    const DATABASE_URL = `sqlite:${dataDir}/new/site.sqlite`

    assert.equal((await user('add ada@example.com --name Ada', password, { DATABASE_URL })).code, 0)
    assert.match((await user('list', '', { DATABASE_URL })).out, /ada@example\.com/)
  })

  test('makes an admin, who is no user', async (t) => {
    const { user, em } = await operator(t)
    const { out } = await user('add ada@example.com --name Ada --admin', `${password}\r\n`)

    assert.match(out, /^Added the admin ada@example\.com /)
    assert.equal(await (await em().findOneOrFail(Admin, { email: 'ada@example.com' })).verify(password), true)
    assert.equal(await em().count(User), 0)
  })

  test('makes a password and shows it', async (t) => {
    const { user, em } = await operator(t)
    const { out } = await user('add ada@example.com --name Ada --generate')
    const [, made = ''] = /shown this once: (\S+)\n$/.exec(out) ?? []

    assert.match(made, /^([a-z2-9]{5}-){3}[a-z2-9]{5}$/)
    assert.equal(await (await em().findOneOrFail(User, { email: 'ada@example.com' })).verify(made), true)
  })

  test('has the rules of sign-up', async (t) => {
    const { user, em } = await operator(t)

    refused(await user('add ada --name Ada', password), /^Enter an e-mail address like/)
    refused(await user('add ada@example.com --name \u202Eada', password), /^The name contains/)
    refused(await user('add ada@example.com --name Ada', 'short\n'), /^The password must have at least 8/)
    refused(await user('add ada@example.com --name Ada', 'password1\n'), /most common/)
    refused(await user('add ada@example.com --name Ada', 'ada@example.com\n'), /made of your e-mail/)
    refused(await user('add ada@example.com --name Ada', ''), /^No password came/)
    refused(await user('add ada@example.com --name Ada', '\n'), /^No password came/)
    assert.equal(await em().count(User), 0)
  })

  test('refuses an address that is taken, in whatever case', async (t) => {
    const { user, em } = await operator(t)
    await user('add ada@example.com --name Ada', password)

    refused(
      await user('add ADA@example.com --name Ada', password),
      /^There is already the user ADA@example\.com/,
    )
    assert.equal(await em().count(User), 1)
  })

  test('makes one account of several attempts at the same time', async (t) => {
    const { user, em } = await operator(t)
    const attempts = await Promise.all(
      ['ada', 'Ada', 'ADA'].map((name) => user(`add ${name}@example.com --name Ada`, password)),
    )

    assert.deepEqual(attempts.map(({ code }) => code).sort(), [0, 1, 1])
    assert.equal(await em().count(User), 1)
  })
})

describe('list', () => {
  test('shows a table, or JSON for a program, and never a hash', async (t) => {
    const { user } = await operator(t)
    await user('add bob@example.com --name Bob', password)
    await user('add ada.lovelace@example.com --name Ada', password)
    await user('disable bob@example.com')

    const { out } = await user('list')
    const today = new Date().toISOString().slice(0, 10)
    assert.deepEqual(out.split('\n'), [
      'E-MAIL                    STATE     CREATED     NAME',
      `ada.lovelace@example.com  active    ${today}  Ada`,
      `bob@example.com           disabled  ${today}  Bob`,
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
    const { user, dataDir } = await operator(t)

    assert.equal((await user('list')).out, `There are no users in ${dataDir}/site.sqlite yet.\n`)
    assert.equal((await user('list --admin')).out, `There are no admins in ${dataDir}/site.sqlite yet.\n`)
    assert.deepEqual(JSON.parse((await user('list --json')).out), [])
  })
})

describe('set-password', () => {
  test('changes the password and ends sessions and tokens of this user alone', async (t) => {
    const { user, em } = await operator(t)
    for (const name of ['ada', 'bob']) {
      await user(`add ${name}@example.com --name ${name}`, password)
      await signIn(em(), `${name}@example.com`)
    }

    const { code, out } = await user('set-password ada@example.com', `${another}\n`)
    assert.equal(code, 0)
    assert.equal(out, 'The user ada@example.com has a new password. Sessions and tokens have ended.\n')
    const ada = await em().findOneOrFail(User, { email: 'ada@example.com' })
    assert.deepEqual([await ada.verify(password), await ada.verify(another)], [false, true])
    assert.equal(await accessOf(em()), 2)
    assert.equal(await em().count(UserToken, { user: ada.id }), 0)
  })

  test('changes nothing when the new one is refused', async (t) => {
    const { user, em } = await operator(t)
    await user('add ada@example.com --name Ada', password)
    await signIn(em(), 'ada@example.com')

    refused(await user('set-password ada@example.com', 'example.com\n'), /made of your e-mail/)
    refused(
      await user('set-password ada@example.com', Buffer.from([0xff, 0x0a]).toString('latin1')),
      /at least 8/,
    )
    assert.equal(await (await em().findOneOrFail(User, {})).verify(password), true)
    assert.equal(await accessOf(em()), 2)
  })

  test('looks an account up by exactly its address, among users or among admins', async (t) => {
    const { user } = await operator(t)
    await user('add ada@example.com --name Ada', password)

    for (const words of ['ADA@example.com', 'eve@example.com', 'ada@example.com --admin', '%', "'or'1'='1"]) {
      refused(
        await user(`set-password ${words}`, another),
        /^There is no (user|admin) .* in .*site\.sqlite\./,
      )
    }
  })
})

describe('disable, enable and delete', () => {
  test('disable lets nobody in and ends sessions and tokens; enable lets them in again', async (t) => {
    const { user, em } = await operator(t)
    await user('add ada@example.com --name Ada', password)
    await signIn(em(), 'ada@example.com')

    assert.equal(
      (await user('disable ada@example.com')).out,
      'The user ada@example.com is disabled. Sessions and tokens have ended.\n',
    )
    const { disabledAt } = await em().findOneOrFail(User, {}, { filters: false })
    assert.equal(await em().findOne(User, { email: 'ada@example.com' }), null)
    assert.equal(await accessOf(em()), 0)

    assert.equal((await user('disable ada@example.com')).code, 0)
    assert.deepEqual((await em().findOneOrFail(User, {}, { filters: false })).disabledAt, disabledAt)
    assert.equal((await user('set-password ada@example.com', another)).code, 0)
    assert.equal(await em().count(User), 0)

    assert.equal((await user('enable ada@example.com')).out, 'The user ada@example.com may sign in.\n')
    assert.equal(await (await em().findOneOrFail(User, { email: 'ada@example.com' })).verify(another), true)
  })

  test('delete removes the account with its sessions and tokens, disabled or not', async (t) => {
    const { user, em } = await operator(t)
    for (const name of ['ada', 'bob']) {
      await user(`add ${name}@example.com --name ${name}`, password)
      await signIn(em(), `${name}@example.com`)
    }
    await user('disable bob@example.com')

    assert.equal((await user('delete ada@example.com')).out, 'The user ada@example.com is deleted.\n')
    assert.equal((await user('delete bob@example.com')).code, 0)
    assert.equal(await em().count(User, {}, { filters: false }), 0)
    assert.equal(await accessOf(em()), 0)
    refused(await user('delete ada@example.com'), /^There is no user/)
  })

  test('an admin is told from a user of the same address', async (t) => {
    const { user, em } = await operator(t)
    await user('add ada@example.com --name Ada', password)
    await user('add ada@example.com --name Ada --admin', password)
    await signIn(em(), 'ada@example.com')

    assert.equal((await user('disable ada@example.com --admin')).code, 0)
    assert.deepEqual([await em().count(Admin), await em().count(User)], [0, 1])
    assert.equal((await user('delete ada@example.com --admin')).code, 0)
    assert.equal(await em().count(Admin, {}, { filters: false }), 0)
    assert.equal(await accessOf(em()), 2)
  })
})

describe('a database in use', () => {
  test('is waited for while somebody else writes', async (t) => {
    const { user, em, dataDir } = await operator(t)
    await user('add ada@example.com --name Ada', password)
    const other = new Database(`${dataDir}/site.sqlite`)
    other.exec('begin immediate')
    const waiting = user('disable ada@example.com')
    // The command has read, and now waits to write.
    setTimeout(() => other.exec('commit'), 1000)

    assert.equal((await waiting).code, 0)
    assert.equal(await em().count(User), 0)
    other.close()
  })

  test('is given up on in a line, with nothing changed, when that takes too long', async (t) => {
    const { user, em, dataDir } = await operator(t)
    await user('add ada@example.com --name Ada', password)
    const other = new Database(`${dataDir}/site.sqlite`)
    other.exec('begin immediate')

    refused(await user('disable ada@example.com'), /SQLITE_BUSY/)
    other.exec('rollback')
    other.close()
    assert.equal(await em().count(User), 1)
  })
})
