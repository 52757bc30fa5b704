import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { sql } from '../testing/database.ts'
import { assertStatuses, isSuccess, userRequests } from '../testing/faults/user-requests.ts'
import { basic, bearer, password, registration, signIn } from '../testing/people.ts'
import { type Site, startSite } from '../testing/site.ts'

type Write = 'insert' | 'update' | 'delete'

/** Makes writes to a table fail and roll back their transactions. Returns the function that repairs the table. */
async function breakWrites(site: Site, write: Write, table: string): Promise<() => Promise<unknown>> {
  await sql(
    site,
    `create trigger broken before ${write} on ${table} begin select raise(rollback, 'disk I/O error'); end`,
  )
  return () => sql(site, 'drop trigger broken')
}

/** Asserts for each kind of write that the responses match the database afterwards. */
async function assertConsistentAnswers(t: TestContext, table: string): Promise<void> {
  const site = await startSite(t, { THROTTLE: 'on' })
  const { person, credentials, open, reading, writing } = await userRequests(site)
  for (const write of ['insert', 'update', 'delete'] as const) {
    const signingOut = await signIn(site, person)
    const visitor = site.visitor()
    const name = `New${write}`
    const repair = await breakWrites(site, write, table)

    const login = await visitor.json('/login', credentials)
    const token = await site.visitor().post('/login', basic(person))
    const signUp = await site.visitor().form('/users', registration(name) as Record<string, string>)
    const logout = await signingOut.post('/logout')
    for (const { request, status, cookies } of [login, token, signUp, logout]) {
      assert.ok(status < 400 || status === 503, `${write}: ${request} ${status}`)
      if (status === 503) assert.deepEqual(cookies, [], `${write}: ${request}`)
    }
    await assertStatuses(isSuccess, open, reading)

    await repair()
    assert.equal((await visitor.get('/me')).status, login.status === 503 ? 401 : 200, write)
    assert.equal((await signingOut.get('/me')).status, logout.status === 503 ? 200 : 401, write)
    if (token.status === 200) {
      const answer = await site.visitor().get('/me', bearer(String(token.record.value)))
      assert.equal(answer.status, 200, write)
    }
    if (signUp.status < 400) {
      const username = `${name.toLowerCase()}@example.com`
      assert.equal((await site.visitor().json('/login', { username, password })).status, 200, write)
    }
    await assertStatuses(isSuccess, open, reading, { login: writing['POST /login by form'] ?? assert.fail })
  }
}

describe('while writes to a table fail, a request makes its change or gets 503 without a cookie', () => {
  test('users', (t) => assertConsistentAnswers(t, 'users'))

  test('user_tokens', (t) => assertConsistentAnswers(t, 'user_tokens'))

  test('sessions', (t) => assertConsistentAnswers(t, 'sessions'))

  test('devices', (t) => assertConsistentAnswers(t, 'devices'))

  test('attempts', (t) => assertConsistentAnswers(t, 'attempts'))

  test('events', (t) => assertConsistentAnswers(t, 'events'))
})
