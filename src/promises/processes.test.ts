import assert from 'node:assert/strict'
import { after, describe, type TestContext, test } from 'node:test'
import { Newcomer } from '../testing/newcomer.ts'
import {
  basic,
  bearer,
  password,
  registration,
  signIn,
  signUp,
  takeJWT,
  takeToken,
} from '../testing/people.ts'
import { startServer, temporaryFolder } from '../testing/server-process.ts'

const newPassword = 'eight wise canaries 1816'
const change = { currentPassword: password, password: newPassword, confirmPassword: newPassword }

/** Two servers on one database. */
async function twoServers(t: TestContext) {
  const variables = { NODE_ENV: 'test', DATA_DIR: await temporaryFolder(t), THROTTLE: 'off' }
  return Promise.all([startServer(t, variables), startServer(t, variables)])
}

describe('a change of the password at one of two processes', { timeout: 60_000 }, () => {
  test('leaves no session and no token of the old password behind, of log-ins that were under way at the other', async (t) => {
    const [one, two] = await twoServers(t)
    let asked = 0
    for (let round = 0; round < 10; round += 1) {
      const person = await signUp(one, `Ada${round}`)
      const owner = await signIn(one, person)
      const changed = owner.form('/account/password', change)
      const others = Array.from({ length: 10 }, async (_, i) => {
        for (let turn = 0; turn < i * 3; turn += 1) await new Promise(setImmediate)
        if (i % 2) {
          const { status, record } = await two.visitor().post('/login', basic(person))
          return status === 200 ? () => one.visitor().get('/me', bearer(String(record.value))) : undefined
        }
        const visitor = two.visitor()
        const { status } = await visitor.json('/login', { username: person.email, password })
        return status === 200 ? () => visitor.get('/me') : undefined
      })
      const opened = await Promise.all(others)
      assert.equal((await changed).status, 303)
      assert.equal((await owner.get('/me')).status, 200)
      for (const open of opened) if (open) assert.equal((await open()).status, 401, `round ${round}`)
      asked += opened.filter((each) => each !== undefined).length
    }
    t.diagnostic(`${asked} log-ins were right when the password changed`)
  })
})

/** A site of three workers, of which another one answers each request. */
async function threeWorkers(test: Parameters<typeof startServer>[0]) {
  const variables = {
    NODE_ENV: 'test',
    DATA_DIR: await temporaryFolder(test),
    TRUST_PROXY: '1',
    WORKERS: '3',
  }
  const { url, log } = await startServer(test, variables)
  const secrets = new Set<string>()
  const visitor = (session?: string) => new Newcomer({ url, secrets }, session)
  /** Which processes have answered since it was asked last. */
  let counted = 0
  const answered = () => {
    const pids = log.slice(counted).flatMap(({ msg, pid }) => (msg === 'request' ? [pid] : []))
    counted = log.length
    return new Set(pids)
  }
  return { visitor, answered }
}

/** Asks as often as there are workers, and returns what they say. */
async function everywhere(ask: () => Promise<{ status: number }>): Promise<number[]> {
  const statuses = new Set<number>()
  for (let worker = 0; worker < 3; worker += 1) statuses.add((await ask()).status)
  return [...statuses]
}

describe('a site of three workers', { timeout: 60_000 }, () => {
  const ends: (() => Promise<void>)[] = []
  let started: ReturnType<typeof threeWorkers> | undefined
  const three = () => {
    started ??= threeWorkers({ after: (run) => ends.unshift(run) })
    return started
  }
  after(async () => {
    for (const end of ends) await end()
  })

  test('is one: whom one of them signs in all know, by session, token and JWT', async () => {
    const site = await three()
    const ada = await signUp(site)
    const here = await signIn(site, ada)
    const [token, jwt] = [await takeToken(site, ada), await takeJWT(site, ada)]
    site.answered()
    assert.deepEqual(await everywhere(() => here.get('/me')), [200])
    assert.deepEqual(await everywhere(() => site.visitor().get('/me', bearer(token))), [200])
    assert.deepEqual(await everywhere(() => site.visitor().get('/me', bearer(jwt))), [200])
    assert.deepEqual(await everywhere(() => site.visitor().post('/validateLoggedInUser', bearer(jwt))), [200])
    assert.ok(site.answered().size > 1)
  })

  test('ends everywhere at once what ends in one of them: a session, a token, an account', async () => {
    const site = await three()
    const ada = await signUp(site, 'Annabella')
    const [here, there] = [await signIn(site, ada), await signIn(site, ada)]
    const { id, value } = (await site.visitor().post('/login', basic(ada))).record
    const me = () => site.visitor().get('/me', bearer(String(value)))
    // Each of them has looked up all of them, more than once, and may remember it.
    for (let time = 0; time < 3; time += 1)
      for (const ask of [() => here.get('/me'), () => there.get('/me'), me])
        assert.deepEqual(await everywhere(ask), [200])
    site.answered()
    assert.equal((await here.post('/account/sessions/end-others')).status, 204)
    assert.deepEqual(await everywhere(() => there.get('/me')), [401], 'a session that was ended')
    assert.equal((await here.post(`/account/tokens/${id}/revoke`)).status, 204)
    assert.deepEqual(await everywhere(me), [401], 'a token that was revoked')
    assert.ok(site.answered().size > 1)

    const jwt = await takeJWT(site, ada)
    assert.equal((await here.form('/account/close', { password, confirm: 'on' })).status, 303)
    assert.deepEqual(
      await everywhere(() => site.visitor(here.session).get('/me')),
      [401],
      'an account that is gone',
    )
    assert.deepEqual(await everywhere(() => site.visitor().get('/me', bearer(jwt))), [401])
  })

  test('counts guesses in one place, and lets a device in that another of them has come to know', async () => {
    const site = await three()
    const { email } = await signUp(site, 'Augusta')
    const home = { 'x-forwarded-for': '192.0.2.7' }
    const owner = site.visitor()
    assert.equal((await owner.form('/login', { username: email, password }, home)).status, 303)
    site.answered()
    const guesses = Array.from({ length: 30 }, () =>
      site.visitor().json('/login', { username: email, password: 'a wrong guess' }, home),
    )
    const statuses = (await Promise.all(guesses)).map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 401).length, 10)
    assert.equal(statuses.filter((status) => status === 429).length, 20)
    assert.ok(site.answered().size > 1)
    const right = { username: email, password }
    assert.deepEqual(await everywhere(() => site.visitor().json('/login', right, home)), [429], 'a stranger')
    assert.deepEqual(await everywhere(() => owner.json('/login', right, home)), [200], 'a known device')
  })

  test('gives an address to one of many who sign up with it at once', async () => {
    const site = await three()
    site.answered()
    const signUps = Array.from({ length: 20 }, (_, i) =>
      site.visitor().json('/users', registration('Eve'), { 'x-forwarded-for': `10.0.${i}.1` }),
    )
    const statuses = (await Promise.all(signUps)).map(({ status }) => status)
    assert.deepEqual(statuses.sort(), [201, ...Array.from({ length: 19 }, () => 409)])
    assert.ok(site.answered().size > 1)
  })

  test('writes down in one place what happened in all of them', async () => {
    const site = await three()
    const grace = await signUp(site, 'Grace')
    site.answered()
    const owner = site.visitor()
    for (let count = 0; count < 3; count += 1) await signIn(site, grace, { visitor: owner })
    assert.ok(site.answered().size > 1)
    const { text } = await owner.get('/account/activity')
    const events: { event: string }[] = JSON.parse(text)
    assert.deepEqual(
      events.map(({ event }) => event),
      ['signed in', 'signed in', 'signed in', 'signed up'],
    )
  })
})
