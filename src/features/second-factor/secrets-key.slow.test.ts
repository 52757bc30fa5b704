import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { password, signUp } from '../../testing/people.ts'
import { turnOnApp } from '../../testing/second-factor.ts'
import { databaseFor, runServer, startServer, temporaryFolder } from '../../testing/server-process.ts'

const keyOf = (name: string) => `${name}:${randomBytes(32).toString('base64')}`

/** A database with an authenticator app that was set up on a site with this `SECRETS_KEY`. */
async function databaseWithApp(t: TestContext, SECRETS_KEY: string) {
  const variables = await databaseFor(t, { DATA_DIR: await temporaryFolder(t) })
  const production = {
    ...variables,
    NODE_ENV: 'production',
    PUBLIC_URL: 'https://example.com',
    JWT_SECRET: randomBytes(32).toString('base64'),
    BCRYPT_COST: '10',
    THROTTLE: 'on',
    DRAIN_SECONDS: '0',
  }
  const first = await startServer(t, { ...variables, SECRETS_KEY })
  const ada = await signUp(first)
  const app = await turnOnApp(first, ada)
  first.child.kill('SIGKILL')
  await first.ended
  return { variables, production, ada, app }
}

describe('the start of a site with authenticator apps', () => {
  test('T12 N1 fails in production with one line that names SECRETS_KEY, if the key is missing or wrong', async (t) => {
    const key = keyOf('first')
    const { production } = await databaseWithApp(t, key)
    for (const [SECRETS_KEY, line] of [
      ['', /^SECRETS_KEY must be set, because accounts have authenticator apps\. .+\n$/],
      [keyOf('second'), /^SECRETS_KEY has no key "first", which encrypted a secret\. .+\n$/],
      [keyOf('first'), /^The key "first" of SECRETS_KEY cannot decrypt a secret\. .+\n$/],
    ] as const) {
      const { code, stdout, stderr } = await runServer(t, { ...production, SECRETS_KEY }).ended
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, line)
    }
    await startServer(t, { ...production, SECRETS_KEY: key })
  })

  test('T12 encrypts the key of an app with a new key, so that the old key can be removed at the next start', async (t) => {
    const [old, newest] = [keyOf('old'), keyOf('new')]
    const { variables, ada, app } = await databaseWithApp(t, old)
    for (const SECRETS_KEY of [`${newest},${old}`, newest]) {
      const server = await startServer(t, { ...variables, SECRETS_KEY })
      const signIn = { username: ada.email, password, code: app.nextCode() }
      assert.equal((await server.visitor().json('/login', signIn)).status, 200)
      server.child.kill('SIGKILL')
      await server.ended
    }
  })
})
