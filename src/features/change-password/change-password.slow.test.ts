import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { basic, bearer, password, registration } from '../../testing/people.ts'
import { startServer, temporaryFolder } from '../../testing/server-process.ts'

const newPassword = 'eight wise canaries 1816'
const path = '/account/password'

describe('POST /account/password', () => {
  test('N5 is atomic if the process is killed, and durable after the response', async (t) => {
    const variables = { NODE_ENV: 'test', DATA_DIR: await temporaryFolder(t), THROTTLE: 'off' }
    let server = await startServer(t, variables)
    const person = { email: 'ada@example.com' }
    await server.visitor().json('/users', registration('Ada'))
    let current = password
    for (const delay of [5, undefined]) {
      const ada = server.visitor()
      await ada.json('/login', { username: person.email, password: current })
      const { record } = await server.visitor().post('/login', basic(person, current))
      const next = `${newPassword} ${delay}`
      const answer = ada.json(path, { currentPassword: current, password: next, confirmPassword: next }).then(
        ({ status }) => status,
        () => undefined,
      )
      if (delay === undefined) assert.equal(await answer, 200)
      else await sleep(delay)
      server.child.kill('SIGKILL')
      await server.ended

      server = await startServer(t, variables)
      const logIn = async (secret: string) =>
        (await server.visitor().post('/login?as=user', basic(person, secret))).status
      const token = async () => (await server.visitor().get('/me', bearer(String(record.value)))).status
      const isChanged = (await logIn(next)) === 200
      assert.deepEqual([await logIn(current), await token()], isChanged ? [401, 401] : [200, 200])
      assert.ok(isChanged || delay !== undefined, 'an acknowledged change is lost')
      if (isChanged) current = next
    }
  })
})
