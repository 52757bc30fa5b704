import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { endAccess } from '../../account/end-access.ts'
import { SessionStore } from '../../account/sessions/session-store.ts'
import { digestOf, newIdentifier } from '../../database/identifier.ts'
import { count, sql } from '../../testing/database.ts'
import { dumpAll } from '../../testing/dump.ts'
import { transactionPauser } from '../../testing/pause-transaction.ts'
import { basic, type Person, password, signIn, signUp } from '../../testing/people.ts'
import { type Site, startSite } from '../../testing/site.ts'

const minute = 60_000
const newPassword = 'eight wise canaries 1816'

describe('an ended session', () => {
  test('E6 is not restored by a concurrent request, in 60 rounds', async (t) => {
    const site = await startSite(t)
    const ada = await signUp(site, 'Ada')
    const store = new SessionStore(site.orm, site.uses.sessions)
    const pauseNext = transactionPauser(site)
    let nth = 0

    // Each of these actions ends the session of the running request.
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

    for (let i = 0; i < 60; i += 1) {
      const end = endings[i % endings.length] ?? assert.fail()
      nth += 1
      const deletesUser = end === endings.at(-1)
      const person = deletesUser ? await signUp(site, `Bob${nth}`) : ada
      const session = newIdentifier()
      await store.start(session, { user: person.id }, { isKept: i % 2 === 0, userAgent: '', address: '' })
      // The running request also writes the last use, because the stored one is two minutes old.
      await sql(site, 'update sessions set seen_at = seen_at - ?', [2 * minute])
      const paused = pauseNext()
      const slow = site.visitor(session).form('/account/name', { name: `Ada ${i}` })
      await paused.begun
      // In some rounds, the session ends before the running request continues. In others, both happen concurrently.
      const ended = end({ session, person })
      if (i % 3 === 1) await site.writeUses()
      if (i % 4 < 2) await ended
      paused.release()
      const [{ status }] = await Promise.all([slow, ended, i % 3 === 0 && site.writeUses()])
      assert.ok([200, 303, 401, 409].includes(status), `${status}`)
      await site.writeUses()
      assert.equal(await count(site, 'sessions'), 0, `round ${i}`)
      assert.equal((await site.visitor(session).get('/me')).status, 401, `round ${i}`)
    }
  })
})

describe('a request whose session ends before its body arrives', () => {
  test('E10 M5 changes nothing on nine account routes, whether the body is a form or JSON', async (t) => {
    const { site, person, thief, owner, tokenId } = await siteWithThief(t)
    const other = await signIn(site, person)
    const ofOther = await idOf(site, other.session ?? '')
    const forms: Record<string, string> = {
      '/account/name': 'name=Mallory',
      '/account/tokens': 'name=Backup&days=365',
      [`/account/tokens/${tokenId}/revoke`]: 'a=b',
      [`/account/sessions/${ofOther}/end`]: 'a=b',
      '/account/sessions/end-others': 'a=b',
      '/account/password': `currentPassword=${newPassword}&password=${password}&confirmPassword=${password}`,
      '/account/email': `email=eve@example.com&password=${newPassword}`,
      '/account/email/cancel': 'a=b',
      '/account/close': `password=${newPassword}&confirm=on`,
    }
    const waiting = Object.entries(forms).flatMap(([path, form]) => {
      const members = JSON.stringify(Object.fromEntries(new URLSearchParams(form)))
      return [
        { path, type: 'application/x-www-form-urlencoded', content: form, status: 303 },
        { path, type: 'application/json', content: members, status: 401 },
      ]
    })
    const begun = waiting.map(({ path, type, content }) => {
      const headers = { expect: '100-continue', 'content-type': type, 'content-length': content.length }
      const slow = thief.open('POST', path, headers)
      slow.write(content.slice(0, 2))
      return slow
    })
    await Promise.all(begun.map((each) => each.begun))

    const change = { currentPassword: password, password: newPassword, confirmPassword: newPassword }
    assert.equal((await owner.form('/account/password', change)).status, 303)
    await owner.json('/account/tokens', { name: 'New' })
    const before = await dumpAll(site)
    for (const [i, { path, content, status }] of waiting.entries()) {
      const answer = await begun[i]?.end(content.slice(2))
      assert.deepEqual([answer?.status, answer?.cookies], [status, []], `${i} ${path}`)
      if (status === 303) assert.match(answer?.headers.location ?? '', /^\/login/)
    }
    assert.deepEqual(await dumpAll(site), before)
    assert.equal((await owner.get('/me')).record.name, 'Ada')
  })
})

/** A site with two sessions and a token of Ada. A thief has one of the sessions. */
async function siteWithThief(t: TestContext) {
  const site = await startSite(t)
  site.secrets.add(newPassword)
  const person = await signUp(site)
  const [thief, owner] = [await signIn(site, person), await signIn(site, person)]
  const { record } = await owner.json('/account/tokens', { name: 'Old' })
  return { site, person, thief, owner, tokenId: String(record.id) }
}

interface Round {
  readonly session: string
  readonly person: Person
}

/** The id of a session, which is needed to end it. */
async function idOf(site: Site, session: string): Promise<string> {
  const [row] = await sql(site, 'select id from sessions where digest = ?', [digestOf(session)])
  return String(row?.id)
}
