import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../testing/database.ts'
import { basic, bearer, password, registration, signIn } from '../testing/people.ts'
import { type Site, startSite } from '../testing/site.ts'
import { assertAnswers, doors, isFine } from './doors.ts'

const tables = ['users', 'user_tokens', 'sessions', 'devices', 'attempts', 'events']

/** Has every such write fail, with whatever else its transaction has done; what it returns lets them succeed again. */
async function breakWrites(site: Site, write: string, table: string): Promise<() => Promise<unknown>> {
  await sql(
    site,
    `create trigger broken before ${write} on ${table} begin select raise(rollback, 'disk I/O error'); end`,
  )
  return () => sql(site, 'drop trigger broken')
}

describe('a write that fails', () => {
  for (const table of tables) {
    test(`to ${table} is a 503 that starts no session, ends none and takes nothing back that was acknowledged`, async (t) => {
      const site = await startSite(t, { THROTTLE: 'on' })
      const { person, credentials, open, reading, writing } = await doors(site)
      for (const write of ['insert', 'update', 'delete']) {
        const what = `${write} on ${table}`
        const leaver = await signIn(site, person)
        const visitor = site.visitor()
        const name = `New${write}`
        const repair = await breakWrites(site, write, table)

        const login = await visitor.json('/login', credentials)
        const token = await site.visitor().post('/login', basic(person))
        const signUp = await site.visitor().form('/users', registration(name) as Record<string, string>)
        const logout = await leaver.post('/logout')
        for (const { request, status, cookies } of [login, token, signUp, logout]) {
          assert.ok(status < 400 || status === 503, `${what}: ${request} ${status}`)
          if (status === 503) assert.deepEqual(cookies, [], `${what}: ${request}`)
        }
        await assertAnswers(isFine, open, reading)

        await repair()
        assert.equal((await visitor.get('/me')).status, login.status === 503 ? 401 : 200, what)
        assert.equal((await leaver.get('/me')).status, logout.status === 503 ? 200 : 401, what)
        if (token.status === 200) {
          const answer = await site.visitor().get('/me', bearer(String(token.record.value)))
          assert.equal(answer.status, 200, what)
        }
        if (signUp.status < 400) {
          const username = `${name.toLowerCase()}@example.com`
          assert.equal((await site.visitor().json('/login', { username, password })).status, 200, what)
        }
        await assertAnswers(isFine, open, reading, { login: writing['POST /login by form'] ?? assert.fail })
      }
    })
  }
})
