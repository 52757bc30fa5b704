import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { endAccess } from '../operator/end-access.ts'
import { count, sql } from '../testing/database.ts'
import { basic, type Person, signUp } from '../testing/people.ts'
import { type Site, startSite } from '../testing/site.ts'
import { HostCookie } from '../web/host-cookie.ts'
import { digestOf, SessionStore } from '../web/session-store.ts'

const minute = 60_000

describe('a session that is ended', () => {
  test('is brought back by no request that is under way, in 500 rounds', async (t) => {
    const site = await startSite(t)
    const ada = await signUp(site, 'Ada')
    const store = new SessionStore(site.orm)
    let nth = 0

    // Each of these ends the session under it, and whatever else its user has.
    const endings: ((round: Round) => Promise<number>)[] = [
      async ({ session }) => (await site.visitor(session).post('/logout')).status,
      async ({ session }) =>
        (await site.visitor(session).post(`/account/sessions/${await idOf(site, session)}/end`)).status,
      async ({ session, person }) =>
        (await site.visitor().post(`/account/sessions/${await idOf(site, session)}/end`, basic(person)))
          .status,
      async ({ person }) => (await site.visitor().post(`/account/sessions/end-others`, basic(person))).status,
      async ({ person }) => (await endAccess(site.orm.em.fork(), person.id)).sessions,
      async ({ person }) => (await sql(site, 'delete from users where id = ?', [person.id])).length,
    ]

    for (let i = 0; i < 500; i += 1) {
      const end = endings[i % endings.length] ?? assert.fail()
      nth += 1
      const isForGood = end === endings.at(-1)
      const person = isForGood ? await signUp(site, `Bob${nth}`) : ada
      const session = HostCookie.newValue()
      await store.start(session, { user: person.id }, { isKept: i % 2 === 0, userAgent: '' })
      // So that the request notes the use, in the very row.
      await sql(site, 'update sessions set seen_at = seen_at - ?', [2 * minute])
      const slow = await slowRequest(site, session)
      // By turns while the request ends, and before.
      const ended = end({ session, person })
      if (i % 4 < 2) await ended
      const [{ status }] = await Promise.all([slow.finish(), ended])
      assert.ok([200, 303, 401, 409].includes(status), `${status}`)
      assert.equal(await count(site, 'sessions'), 0, `round ${i}`)
      assert.equal((await site.visitor(session).get('/me')).status, 401, `round ${i}`)
    }
  })
})

interface Round {
  readonly session: string
  readonly person: Person
}

/** By which its user ends it. */
async function idOf(site: Site, session: string): Promise<string> {
  const [row] = await sql(site, 'select id from sessions where digest = ?', [digestOf(session)])
  return String(row?.id)
}

/** A request that writes to its session in the end; it is under way when the site has read the session. */
async function slowRequest(site: Site, session: string) {
  const body = 'name=Ada'
  const slow = site.visitor(session).open('POST', '/account/name', {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': body.length,
  })
  slow.write(body.slice(0, 1))
  for (;;) {
    const [row] = await sql(site, 'select seen_at from sessions where digest = ?', [digestOf(session)])
    if (Number(row?.seen_at) > Date.now() - minute) break
    await setImmediate()
  }
  return { finish: () => slow.end(body.slice(1)) }
}
