import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { until } from '../../testing/faults/until.ts'
import {
  basic,
  bearer,
  password,
  registration,
  signIn,
  signUp,
  takeJWT,
  takeToken,
} from '../../testing/people.ts'
import { ReconnectingVisitor } from '../../testing/reconnecting-visitor.ts'
import { startServer, temporaryFolder } from '../../testing/server-process.ts'

/** A site of three workers. Each request has a new connection, which may reach any worker. */
async function threeWorkers(test: Parameters<typeof startServer>[0]) {
  const variables = {
    NODE_ENV: 'test',
    DATA_DIR: await temporaryFolder(test),
    TRUST_PROXY: '1',
    WORKERS: '3',
  }
  const { url, log } = await startServer(test, variables)
  await until('all workers listen', () => log.filter(({ msg }) => msg === 'a worker listens').length === 3)
  const secrets = new Set<string>()
  const visitor = (session?: string) => new ReconnectingVisitor({ url, secrets }, session)
  let counted = 0
  /** The process ids of the workers that responded since the last call. */
  const answered = () => {
    const pids = log.slice(counted).flatMap((line) => (line.msg === 'request' ? [line['process.pid']] : []))
    counted = log.length
    return new Set(pids)
  }
  return { visitor, answered }
}

/** Sends a request three times, each time to any worker, and returns the distinct statuses. */
async function everywhere(send: () => Promise<{ status: number }>): Promise<number[]> {
  const statuses = new Set<number>()
  for (let worker = 0; worker < 3; worker += 1) statuses.add((await send()).status)
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

  test('M6 accepts a session, a token and a JWT at several workers', async () => {
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

  test('M6 ends a session, a token and an account at several workers immediately', async () => {
    const site = await three()
    const ada = await signUp(site, 'Annabella')
    const [here, there] = [await signIn(site, ada), await signIn(site, ada)]
    const { id, value } = (await site.visitor().post('/login', basic(ada))).record
    const me = () => site.visitor().get('/me', bearer(String(value)))
    // The workers look up both sessions and the token while these are valid.
    for (let time = 0; time < 3; time += 1)
      for (const send of [() => here.get('/me'), () => there.get('/me'), me])
        assert.deepEqual(await everywhere(send), [200])
    site.answered()
    assert.equal((await here.post('/account/sessions/end-others')).status, 204)
    assert.deepEqual(await everywhere(() => there.get('/me')), [401], 'an ended session')
    assert.equal((await here.post(`/account/tokens/${id}/revoke`)).status, 204)
    assert.deepEqual(await everywhere(me), [401], 'a revoked token')
    assert.ok(site.answered().size > 1)

    const jwt = await takeJWT(site, ada)
    assert.equal((await here.form('/account/close', { password, confirm: 'on' })).status, 303)
    assert.deepEqual(await everywhere(() => site.visitor(here.session).get('/me')), [401], 'a closed account')
    assert.deepEqual(await everywhere(() => site.visitor().get('/me', bearer(jwt))), [401])
  })

  test('D6 M6 has one rate limit of failed sign-ins for all workers, and recognises a known device', async () => {
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
    assert.deepEqual(
      await everywhere(() => site.visitor().json('/login', right, home)),
      [429],
      'an unknown device',
    )
    assert.deepEqual(await everywhere(() => owner.json('/login', right, home)), [200], 'a known device')
  })

  test('K8 creates one account from concurrent sign-ups with one e-mail address', async () => {
    const site = await three()
    site.answered()
    const signUps = Array.from({ length: 20 }, (_, i) =>
      site.visitor().json('/users', registration('Eve'), { 'x-forwarded-for': `10.0.${i}.1` }),
    )
    const statuses = (await Promise.all(signUps)).map(({ status }) => status)
    assert.deepEqual(statuses.sort(), [201, ...Array.from({ length: 19 }, () => 409)])
    assert.ok(site.answered().size > 1)
  })

  test('M6 shows the events of several workers in the list of recent activity', async () => {
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
