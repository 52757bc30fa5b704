import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { until } from '../testing/faults/until.ts'
import { assertStatuses, isSuccess, userRequests } from '../testing/faults/user-requests.ts'
import { basic, bearer, password } from '../testing/people.ts'
import { startServer, temporaryFolder } from '../testing/server-process.ts'

const hour = 3_600_000

// Moves the clock of a process by an hour: forward at SIGUSR2, back at SIGHUP.
const clockProgram = `
  let ahead = 0
  const Real = Date
  globalThis.Date = class Date extends Real {
    constructor(...parts) {
      if (parts.length > 0) super(...parts)
      else super(Real.now() + ahead)
    }
    static now() { return Real.now() + ahead }
  }
  process.on('SIGUSR2', () => { ahead += ${hour} })
  process.on('SIGHUP', () => { ahead -= ${hour} })`

describe('a clock change while the server runs', () => {
  test('N11 extends no session or JWT, and causes no error, in the time zone of Chatham', async (t) => {
    const variables = {
      DATA_DIR: await temporaryFolder(t),
      TZ: 'Pacific/Chatham',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(clockProgram)}`,
    }
    const server = await startServer(t, variables, { isPatient: true })
    const setClock = async (signal: 'SIGUSR2' | 'SIGHUP', ahead: number) => {
      server.child.kill(signal)
      await until('the log has the new time', async () => {
        await server.visitor().get('/healthz')
        const time = Date.parse(String(server.log.at(-1)?.time))
        return Math.abs(time - Date.now() - ahead) < hour / 2
      })
    }
    const { person, ada, token, jwt, credentials, open, writing } = await userRequests(server)
    const { 'POST /validateLoggedInUser': _short, ...pages } = open
    const { 'POST /logout': _once, ...signingIn } = writing
    const me = (header: Record<string, string>) => server.visitor().get('/me', header)

    await setClock('SIGUSR2', hour)
    assert.equal(
      (await ada.get('/me')).status,
      200,
      'one hour after the last use, within the idle limit of two hours',
    )
    assert.equal((await me(bearer(token))).status, 200)
    assert.equal((await me(bearer(jwt))).status, 401, 'an expired JWT')
    await assertStatuses(isSuccess, pages, signingIn)
    const visitor = server.visitor()
    assert.equal((await visitor.json('/login', credentials)).status, 200)
    const { record: late } = await server.visitor().post('/login?as=jwt', basic(person))
    assert.equal((await me(bearer(String(late.token)))).status, 200)

    await setClock('SIGHUP', 0)
    assert.equal((await me(bearer(token))).status, 200)
    for (const each of [ada, visitor])
      assert.equal((await each.get('/me')).status, 401, 'a last use in the future')
    assert.equal((await me(bearer(String(late.token)))).status, 401)
    await setClock('SIGHUP', -hour)
    const early = server.visitor()
    assert.equal((await early.json('/login', credentials)).status, 200)
    for (const ahead of [0, 1, 2, 3, 4]) await setClock('SIGUSR2', ahead * hour)
    assert.equal((await early.get('/me')).status, 401, 'more than two hours after the last use')
    assert.equal((await me(bearer(String(late.token)))).status, 401)
    await assertStatuses(isSuccess, pages, signingIn)
    assert.equal((await visitor.json('/login', { username: person.email, password })).status, 200)
    assert.equal((await visitor.get('/me')).status, 200)

    assert.equal(server.child.exitCode, null)
    assert.deepEqual(
      server.log.filter(({ level }) => Number(level) >= 40),
      [],
    )
  })
})
