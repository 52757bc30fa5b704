import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
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
import { databaseFor, startServer, temporaryFolder } from '../testing/server-process.ts'

/** Two servers on one database, in different time zones. */
async function startTwo(t: Parameters<typeof startServer>[0], more: Record<string, string> = {}) {
  const folder = await temporaryFolder(t)
  const variables = { DATA_DIR: folder, TRUST_PROXY: '1', ...more }
  const [one, other] = await Promise.all([
    startServer(t, { ...variables, TZ: 'Pacific/Chatham' }, { isPatient: true }),
    startServer(t, { ...variables, TZ: 'America/St_Johns' }, { isPatient: true }),
  ])
  const database = await databaseFor(t, variables)
  return { database, one, other, both: [one, other] as const }
}

/** Runs `npm run user` on the database of the servers. */
function runUserCommand(database: Record<string, string>, ...line: string[]) {
  const command = ['src/start.js', 'commands/user', ...line]
  const env = { PATH: process.env.PATH, BCRYPT_COST: '4', ...database }
  return promisify(execFile)(process.execPath, command, { cwd: join(import.meta.dirname, '../..'), env })
}

async function statusOf(answer: Promise<{ status: number }>): Promise<number> {
  return (await answer).status
}

/** The header of a proxy for a client in a random network. */
function fromRandomNetwork(): { 'x-forwarded-for': string } {
  return { 'x-forwarded-for': `10.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}` }
}

describe('two processes on one database', () => {
  const ends: (() => Promise<void>)[] = []
  let started: ReturnType<typeof startTwo> | undefined
  const two = () => {
    started ??= startTwo({ after: (run) => ends.unshift(run) })
    return started
  }
  after(async () => {
    for (const end of ends) await end()
  })

  test('M6 share sessions, tokens and accounts: a change in one process takes effect in both', async () => {
    const { one, other, both, database } = await two()
    const ada = await signUp(one)
    const here = await signIn(other, ada)
    const there = one.visitor(here.session)
    assert.equal((await there.get('/me')).record.name, 'Ada')
    assert.equal((await there.post('/logout')).status, 204)
    assert.equal((await here.get('/me')).status, 401, 'a session after sign-out')

    const [again, elsewhere] = [await signIn(one, ada), await signIn(other, ada)]
    const { id, value: token } = (await other.visitor().post('/login', basic(ada))).record
    const me = ({ visitor }: typeof one) => visitor().get('/me', bearer(String(token)))
    for (const each of both) assert.equal((await me(each)).status, 200)
    await again.post('/account/sessions/end-others')
    assert.equal((await elsewhere.get('/me')).status, 401, 'an ended session')
    await again.post(`/account/tokens/${id}/revoke`)
    for (const each of both) assert.equal((await me(each)).status, 401, 'a revoked token')

    const [last, jwt] = [await takeToken(one, ada), await takeJWT(one, ada)]
    assert.equal((await other.visitor().get('/me', bearer(jwt))).status, 200)
    await runUserCommand(database, 'delete', ada.email)
    for (const each of both) {
      assert.equal((await each.visitor().get('/me', bearer(jwt))).status, 401, 'a deleted user')
      assert.equal((await each.visitor(again.session).get('/me')).status, 401, 'a deleted user')
      assert.equal((await each.visitor().get('/me', bearer(last))).status, 401, 'a deleted user')
    }
  })

  test('D6 share one rate limit for concurrent wrong passwords', async () => {
    const { both, one } = await two()
    const annabella = await signUp(one, 'Annabella')
    const owner = await signIn(one, annabella)
    const guess = (i: number) => both[i % 2 === 0 ? 0 : 1].visitor().post('/login', basic(annabella, 'wrong'))
    const statuses = await Promise.all(Array.from({ length: 200 }, (_, i) => statusOf(guess(i))))
    assert.equal(statuses.filter((status) => status === 401).length, 10)
    assert.equal(statuses.filter((status) => status === 429).length, 190)
    for (const { visitor } of both) {
      assert.equal((await visitor().post('/login', basic(annabella))).status, 429)
      const known = visitor()
      known.cookies.set('device', owner.cookies.get('device') ?? '')
      assert.equal((await known.post('/login?as=user', basic(annabella))).status, 200, 'a known device')
    }
  })

  test('C5 M6 accept a reset link only once when both receive it at the same time', async () => {
    const { both, one, database } = await two()
    const grace = await signUp(one, 'Grace')
    const { stdout } = await runUserCommand(database, 'reset-link', grace.email)
    const token = new URL(stdout.split('\n', 1)[0] ?? '').searchParams.get('token')
    const passwords = Array.from({ length: 40 }, (_, i) => `eight wise canaries ${i}`)
    const resets = passwords.map((each, i) =>
      statusOf(
        both[i % 2 === 0 ? 0 : 1].visitor().json('/reset', { token, password: each, confirmPassword: each }),
      ),
    )
    const statuses = await Promise.all(resets)
    const winner = statuses.indexOf(204)
    assert.deepEqual(statuses.toSorted(), [204, ...Array.from({ length: 39 }, () => 410)])
    for (const { visitor } of both)
      assert.equal((await visitor().post('/login?as=user', basic(grace, passwords[winner]))).status, 200)
  })

  test('K8 create one account from concurrent sign-ups with one address', async () => {
    const { both } = await two()
    for (let round = 0; round < 20; round += 1) {
      const signUps = Array.from({ length: 20 }, (_, i) => {
        const name = i % 3 === 0 ? `Eve${round}` : `eve${round}`
        const email = `${name}@example.com`
        const { visitor } = both[i % 2 === 0 ? 0 : 1]
        return statusOf(visitor().json('/users', registration(name, { email }), fromRandomNetwork()))
      })
      const statuses = await Promise.all(signUps)
      assert.deepEqual(statuses.sort(), [201, ...Array.from({ length: 19 }, () => 409)])
    }
  })

  test('E19 M6 cap the sessions of a user at 100 when many start at the same time', async (t) => {
    // The throttle would limit the sign-ins of the account to a hundred.
    const { both } = await startTwo(t, { THROTTLE: 'off' })
    const { email } = await signUp(both[0], 'Byron')
    const visitors = Array.from({ length: 120 }, (_, i) => both[i % 2 === 0 ? 0 : 1].visitor())
    const signIns = visitors.map((visitor) => statusOf(visitor.json('/login', { username: email, password })))
    for (const status of await Promise.all(signIns)) assert.equal(status, 200)
    const statuses = await Promise.all(visitors.map(async (visitor) => (await visitor.get('/me')).status))
    assert.equal(statuses.filter((status) => status === 200).length, 100)
    assert.equal(statuses.filter((status) => status === 401).length, 20)
  })

  test('E6 do not resurrect a session that one process ends while the other handles its request', async () => {
    const { one, other, both } = await two()
    const ada = await signUp(one, 'Augusta')
    // The form saves a notice in the session.
    const round = async () => {
      const here = one.visitor()
      const credentials = { username: ada.email, password }
      assert.equal(await statusOf(here.json('/login', credentials)), 200)
      const { session } = here
      const there = other.visitor(session)
      const saving = there.form('/account/name', { name: 'Ada King' })
      assert.equal(await statusOf(here.post('/logout')), 204)
      await saving
      for (const each of both) assert.equal((await each.visitor(session).get('/me')).status, 401)
    }
    for (let rounds = 0; rounds < 5; rounds += 1) await Promise.all(Array.from({ length: 10 }, round))
  })
})
