import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { basic, bearer, password, signIn, signUp } from '../../testing/people.ts'
import { startServer, temporaryFolder } from '../../testing/server-process.ts'

const newPassword = 'eight wise canaries 1816'
const change = { currentPassword: password, password: newPassword, confirmPassword: newPassword }

/** Two servers that start at the same time on an empty folder. */
async function twoServers(t: TestContext) {
  const variables = { NODE_ENV: 'test', DATA_DIR: await temporaryFolder(t), THROTTLE: 'off' }
  return Promise.all([startServer(t, variables), startServer(t, variables)])
}

describe('a password change at one of two processes', { timeout: 60_000 }, () => {
  test('E10 M6 ends sessions and tokens that the other process creates at the same time with the old password', async (t) => {
    const [one, two] = await twoServers(t)
    let accepted = 0
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
      accepted += opened.filter((each) => each !== undefined).length
    }
    t.diagnostic(`${accepted} concurrent sign-ins were accepted before the change`)
  })
})
