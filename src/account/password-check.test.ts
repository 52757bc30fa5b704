import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import bcrypt from 'bcrypt'
import type { AuthContext } from '#auth'
import { databases } from '#auth/mikro-orm'
import { count, failWrites, sql } from '../testing/database.ts'
import { addAdmin, basic, bearer, password, signIn, signUp, takeJWT } from '../testing/people.ts'
import { type Site, startSite } from '../testing/site.ts'
import { siteWithAda } from '../testing/site-with-ada.ts'
import { isOnPostgres } from '../testing/test-database.ts'
import { setBcryptCost } from '../users/password.ts'
import { checkPassword } from './password-check.ts'

describe('a sign-in after a change of the bcrypt cost', () => {
  test('B9 renews the hash by form, JSON or Basic, and changes nothing else', async (t) => {
    const { site, person, ada } = await siteWithAda(t)
    const jwt = await takeJWT(site, person)
    const [before] = await sql(site, 'select * from users')
    const requests = [
      () => site.visitor().form('/login', { username: person.email, password }),
      () => site.visitor().json('/login', { username: person.email, password }),
      () => site.visitor().post('/login?as=jwt', basic(person)),
      () => site.visitor().get('/account/sessions', basic(person)),
      () => ada.json('/account/password', { currentPassword: password }),
    ]
    for (const [i, send] of requests.entries()) {
      const cost = i % 2 === 0 ? 5 : 4
      setBcryptCost(cost)
      const { status } = await send()
      assert.ok(status < 500)
      assert.equal((await hashOf(site)).slice(0, 7), `$2b$0${cost}$`, String(send))
      assert.equal((await send()).status, status, 'the new hash matches the same password')
    }
    const [after] = await sql(site, 'select * from users')
    assert.deepEqual({ ...after, password_hash: before?.password_hash }, before)
    assert.equal((await ada.get('/me')).status, 200)
    assert.equal((await site.visitor().get('/me', bearer(jwt))).status, 200)
    assert.equal((await site.visitor().post('/login?as=user', basic(person))).status, 200)
  })

  test('renews the hash of an admin too', async (t) => {
    const site = await startSite(t)
    const grace = await addAdmin(site)
    setBcryptCost(5)
    assert.equal((await site.visitor().get('/secure', basic(grace))).status, 200)
    assert.match(await hashOf(site, 'admins'), /^\$2b\$05\$/)
    assert.equal((await site.visitor().get('/secure', basic(grace))).status, 200)
  })

  test('keeps the hash for a wrong password', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const before = await hashOf(site)
    setBcryptCost(5)
    assert.equal((await site.visitor().post('/login', basic(person, 'wrong'))).status, 401)
    assert.equal(await hashOf(site), before)
  })

  test('B9 accepts the right password and warns when the new hash cannot be stored', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const before = await hashOf(site)
    const warnings = warningsOf(t)
    const repair = await failWrites(site, 'update', 'users')
    setBcryptCost(5)
    assert.equal((await site.visitor().post('/login?as=user', basic(person))).status, 200)
    await signIn(site, person)
    assert.equal(await hashOf(site), before)
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['PASSWORD_HASH_KEPT', 'PASSWORD_HASH_KEPT'],
    )
    for (const { message } of warnings) {
      assert.ok(message.includes(person.id))
      assert.doesNotMatch(message, /\$2b\$|update |a rule/i)
    }
    await repair()
    await signIn(site, person)
    assert.match(await hashOf(site), /^\$2b\$05\$/, 'the next sign-in renews the hash')
  })

  test('C2 does the work of one hash at the new cost for a wrong password, also for a damaged hash and an unknown address', async (t) => {
    const site = await startSite(t)
    const [old, recent] = [await signUp(site, 'Ada'), await signUp(site, 'Bob')]
    const damaged = await signUp(site, 'Eve')
    await sql(site, "update users set password_hash = 'x' where name = 'Eve'")
    setBcryptCost(7)
    await signIn(site, recent)
    warningsOf(t)
    const { mock } = t.mock.method(bcrypt, 'compare')
    const work = async (email: string) => {
      mock.resetCalls()
      assert.equal((await site.visitor().post('/login', basic({ email }, 'wrong'))).status, 401)
      const costs = mock.calls.map(({ arguments: [, hash] }) => Number(String(hash).slice(4, 6)))
      return costs.reduce((sum, cost) => sum + 2 ** cost, 0)
    }
    for (const email of [old.email, recent.email, damaged.email, 'nobody@example.com'])
      assert.equal(await work(email), 2 ** 7, email)
  })
})

describe('a stored hash that is damaged or hostile', () => {
  test('B8 fails the sign-in like a wrong password, and causes a warning with the id of the account', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const hash = await hashOf(site)
    const salt = hash.slice(7)
    const warnings = warningsOf(t)
    const damaged = [
      '',
      password,
      hash.slice(0, -1),
      `${hash}x`,
      `$2b$31$${salt}`,
      `$2b$16$${salt}`,
      `$2b$00$${salt}`,
      `$2y$04$${salt}`,
      `$argon2id$v=19$m=65536,t=3,p=4$${salt}`,
      '$2b$04$',
      // The column of PostgreSQL is limited to 60 characters.
    ].filter((each) => !isOnPostgres || each.length <= 60)
    for (const each of damaged) {
      await sql(site, 'update users set password_hash = ?', [each])
      warnings.length = 0
      const { status, text } = await site.visitor().post('/login', basic(person))
      assert.equal(status, 401, each)
      assert.doesNotMatch(text, /damage|hash/)
      const form = await site.visitor().form('/login', { username: person.email, password })
      assert.equal(form.status, 401, each)
      assert.match(form.text, /The e-mail address or password is wrong\./)
      assert.deepEqual(
        warnings.map(({ code }) => code),
        ['PASSWORD_HASH_DAMAGED', 'PASSWORD_HASH_DAMAGED'],
      )
      for (const { message } of warnings) {
        assert.ok(message.startsWith(`The password hash of User ${person.id} is damaged`), message)
        assert.ok(each.length < 3 || !message.includes(each))
      }
      assert.equal(await hashOf(site), each, 'the stored hash remains')
    }
  })
})

describe('checkPassword', () => {
  test('rejects a password if, during verification, it changes or the account is disabled or deleted', async (t) => {
    const site = await startSite(t)
    const { email } = await signUp(site)
    const logIn = async (meanwhile: string) => {
      const { compare } = bcrypt
      const compared = t.mock.method(bcrypt, 'compare', async (typed: string, stored: string) => {
        await sql(site, meanwhile)
        return compare(typed, stored)
      })
      const { user } = await checkPassword({ guessing: undefined }, contextOf(site), {
        email,
        password,
        match: 'exact',
      })
      compared.mock.restore()
      return user
    }
    assert.ok(await logIn('select 1'))
    assert.equal(await logIn('update users set credentials_version = credentials_version + 1'), undefined)
    assert.equal(await logIn('update users set disabled_at = 1'), undefined)
    await sql(site, 'update users set disabled_at = null')
    assert.ok(await logIn('select 1'))
    assert.equal(await logIn('delete from users'), undefined)
    assert.equal(await count(site, 'users'), 0)
  })
})

async function hashOf(site: Site, table = 'users'): Promise<string> {
  const [row] = await sql(site, `select password_hash from ${table}`)
  return String(row?.password_hash)
}

/** Collects the warnings of the process about passwords. */
function warningsOf(t: TestContext): { code?: string; message: string }[] {
  const warnings: { code?: string; message: string }[] = []
  const note = (warning: Error & { code?: string }) => {
    if (warning.code?.startsWith('PASSWORD_')) warnings.push(warning)
  }
  process.on('warning', note)
  t.after(() => process.off('warning', note))
  return warnings
}

function contextOf(site: Site): AuthContext {
  const ctx = { auth: {}, req: { headers: {}, socket: {} }, is: () => false } as unknown as AuthContext
  databases(site.orm)(ctx, async () => {})
  return ctx
}
