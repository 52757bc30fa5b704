import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { describe, test } from 'node:test'
import bcrypt from 'bcrypt'
import { countHashes } from '../testing/count-hashes.ts'
import { sql } from '../testing/database.ts'
import { addAdmin, basic, password, registration, signIn, signUp } from '../testing/people.ts'
import type { Answer } from '../testing/promises.ts'
import { type Site, startSite } from '../testing/site.ts'
import { setBcryptCost } from './password.ts'

/** Functions that send a password, each in a different kind of request. */
function requestsOf(site: Site): Record<string, (email: string, secret: string) => Promise<Answer>> {
  return {
    form: (username, secret) => site.visitor().form('/login', { username, password: secret }),
    JSON: (username, secret) => site.visitor().json('/login', { username, password: secret }),
    Basic: (email, secret) => site.visitor().post('/login', basic({ email }, secret)),
    'Basic for a JWT': (email, secret) => site.visitor().post('/login?as=jwt', basic({ email }, secret)),
    'Basic at the account': (email, secret) =>
      site.visitor().get('/account/sessions', basic({ email }, secret)),
    'Basic as an admin': (email, secret) => site.visitor().get('/secure', basic({ email }, secret)),
  }
}

describe('a check of a password', () => {
  test('C2 C3 does the work of one hash at the current cost for a wrong password in six kinds of requests, whether the account exists or not', async (t) => {
    const site = await startSite(t)
    await signUp(site, 'Ada')
    await signUp(site, 'Bob')
    await signUp(site, 'Eve')
    await addAdmin(site, 'Grace')
    await sql(site, "update users set disabled_at = 1 where name = 'Bob'")
    await sql(site, "update users set password_hash = 'damaged' where name = 'Eve'")
    const hashes = countHashes(t)
    for (const cost of [4, 6]) {
      setBcryptCost(cost)
      for (const [how, send] of Object.entries(requestsOf(site))) {
        const names = ['ada', 'bob', 'eve', 'grace', 'nobody', '', 'x'.repeat(300)]
        for (const name of names) {
          hashes()
          const { status } = await send(`${name}@example.com`, 'a wrong guess')
          const { rounds } = hashes()
          assert.deepEqual([status, rounds], [401, 2 ** cost], `${how}: ${name.slice(0, 9)} at cost ${cost}`)
        }
      }
    }
  })
})

describe('sign-up', () => {
  test('C4 rejects the address of another account with 409 before it computes a hash', async (t) => {
    const site = await startSite(t)
    const hashes = countHashes(t)
    await signUp(site)
    assert.equal(hashes().evaluations, 1)
    for (let i = 0; i < 10; i += 1)
      assert.equal((await site.visitor().json('/users', registration('Ada'))).status, 409)
    assert.equal(hashes().evaluations, 0)
  })
})

describe('a flood of log-ins', () => {
  test('D11 does not delay pages, and gets an immediate 503 with Retry-After when the queue is full', async (t) => {
    const site = await startSite(t)
    const { email } = await signUp(site)
    const ada = await signIn(site, { email })
    const gate = Promise.withResolvers<void>()
    const started: string[] = []
    const { compare } = bcrypt
    t.mock.method(bcrypt, 'compare', async (typed: string, stored: string) => {
      started.push(stored)
      await gate.promise
      return compare(typed, stored)
    })
    // A hash that takes days reduces the queue to its minimum capacity.
    const elapsed = t.mock.method(performance, 'now', () => 1e9 * elapsed.mock.callCount())
    const first = site.visitor().json('/login', { username: email, password })
    gate.resolve()
    assert.equal((await first).status, 200)
    elapsed.mock.restore()

    const held = Promise.withResolvers<void>()
    gate.promise = held.promise
    started.length = 0
    // One request runs in each slot, and the queue accepts 64.
    const size = availableParallelism() + 100
    const flood = Array.from({ length: size }, () =>
      site.visitor().json('/login', { username: email, password: 'a wrong guess' }),
    )
    const refused: Answer[] = []
    const all = flood.map((each) =>
      each.then((answer) => (answer.status === 503 ? refused.push(answer) : answer)),
    )
    while (refused.length === 0) assert.equal((await ada.page('/account')).status, 200)
    assert.equal((await site.visitor().page('/login')).status, 200)
    assert.ok(started.length <= availableParallelism(), 'the cores limit concurrent hashes')
    for (const { headers } of refused) assert.match(headers['retry-after'] ?? '', /^[1-9]\d*$/)
    held.resolve()
    await Promise.all(all)
    assert.ok(refused.length <= size - 64, 'the queue accepts a burst of 64')
  })
})
