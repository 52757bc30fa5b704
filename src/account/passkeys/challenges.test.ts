import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { expiredRows } from '../../database/expired-rows.ts'
import { newIdentifier } from '../../database/identifier.ts'
import { openDatabase } from '../../database/open-database.ts'
import { clockSkew } from '../../durations.ts'
import { failWrites, sql } from '../../testing/database.ts'
import { recordSiteStatements } from '../../testing/record-site-statements.ts'
import { startSite } from '../../testing/site.ts'
import { patientSchema } from '../../testing/test-database.ts'
import {
  type Ceremony,
  challengeLifetime,
  consumeChallenge,
  newChallenge,
  UsedChallenge,
} from './challenges.ts'

const key = randomBytes(32)
const ceremony: Ceremony = { purpose: 'sign-in', binding: newIdentifier() }

/** A site, and a function that consumes challenges in it. */
async function siteWithChallenges(t: TestContext) {
  const site = await startSite(t)
  const consume = (challenge: string, more: Partial<Ceremony> = {}, now = Date.now()) =>
    consumeChallenge(site.orm.em.fork(), key, challenge, { ...ceremony, ...more }, now)
  return { site, consume }
}

describe('challenges', () => {
  test('U1 are accepted once, and are stored as a digest', async (t) => {
    const { site, consume } = await siteWithChallenges(t)
    const challenge = newChallenge(key, ceremony)
    assert.match(challenge, /^[\w-]{72}$/)
    assert.notEqual(challenge, newChallenge(key, ceremony))
    assert.deepEqual([await consume(challenge), await consume(challenge)], [true, false])
    const rows = await sql(site, 'select digest from used_challenges')
    assert.deepEqual(rows, [{ digest: hash('sha256', challenge, 'base64url') }])
  })

  test('U1 M6 are accepted only once in 50 concurrent uses over two connection pools', async (t) => {
    const { site } = await siteWithChallenges(t)
    const other = await openDatabase(site.config.databaseUrl, { ...patientSchema, connections: 2 })
    t.after(() => other.close())
    const challenge = newChallenge(key, ceremony)
    const uses = Array.from({ length: 50 }, (_, i) =>
      consumeChallenge((i % 2 === 0 ? site.orm : other).em.fork(), key, challenge, ceremony),
    )
    assert.equal((await Promise.all(uses)).filter(Boolean).length, 1)
  })

  test('U1 are rejected for another purpose, browser or key, and stay valid for their own', async (t) => {
    const { site, consume } = await siteWithChallenges(t)
    const challenge = newChallenge(key, ceremony)
    assert.equal(await consume(challenge, { purpose: 'add' }), false)
    assert.equal(await consume(challenge, { purpose: 'confirm' }), false)
    assert.equal(await consume(challenge, { binding: newIdentifier() }), false)
    const em = site.orm.em.fork()
    assert.equal(await consumeChallenge(em, randomBytes(32), challenge, ceremony), false)
    assert.equal(await consume(challenge), true)
  })

  test('U1 are rejected for an empty binding, even if they were created for it', async (t) => {
    const { consume } = await siteWithChallenges(t)
    assert.equal(await consume(newChallenge(key, { ...ceremony, binding: '' }), { binding: '' }), false)
  })

  test('U1 expire after five minutes', async (t) => {
    const { consume } = await siteWithChallenges(t)
    const now = Date.now()
    const [one, other] = [newChallenge(key, ceremony, now), newChallenge(key, ceremony, now)]
    assert.equal(challengeLifetime, 300_000)
    assert.equal(await consume(one, {}, now + challengeLifetime), false)
    assert.equal(await consume(other, {}, now + challengeLifetime - 1), true)
  })

  test('P4 are rejected if they were created more than two minutes in the future', async (t) => {
    const { consume } = await siteWithChallenges(t)
    const now = Date.now()
    assert.equal(await consume(newChallenge(key, ceremony, now + clockSkew + 1), {}, now), false)
    assert.equal(await consume(newChallenge(key, ceremony, now + clockSkew), {}, now), true)
  })

  test('U1 are rejected in another encoding or with a changed bit, without a query', async (t) => {
    const { site, consume } = await siteWithChallenges(t)
    const challenge = newChallenge(key, ceremony)
    const statements = await recordSiteStatements(t, site)
    for (const spelling of ['', 'x', ` ${challenge}`, `${challenge}=`, `${challenge}A`, challenge.slice(1)])
      assert.equal(await consume(spelling), false)
    const bytes = Buffer.from(challenge, 'base64url')
    for (let i = 0; i < bytes.length; i += 1) {
      const changed = Buffer.from(bytes)
      changed[i] = (changed[i] ?? 0) ^ 1
      assert.equal(await consume(changed.toString('base64url')), false, `byte ${i}`)
    }
    assert.deepEqual(statements(), [])
  })

  test('E14 stay stored as used until two minutes after their expiry, and are then purged', async (t) => {
    const { site, consume } = await siteWithChallenges(t)
    const made = Date.now()
    await consume(newChallenge(key, ceremony, made), {}, made)
    const purge = (now: number) => expiredRows(site.orm, UsedChallenge, () => now).purge(500)
    assert.equal(await purge(made + challengeLifetime + clockSkew - 1), 0)
    assert.equal(await purge(made + challengeLifetime + clockSkew), 1)
  })

  test('are not used up if the database cannot store them', async (t) => {
    const { site, consume } = await siteWithChallenges(t)
    const repair = await failWrites(site, 'insert', 'used_challenges')
    const challenge = newChallenge(key, ceremony)
    await assert.rejects(consume(challenge), /a rule of the database/)
    await repair()
    assert.equal(await consume(challenge), true)
  })
})
