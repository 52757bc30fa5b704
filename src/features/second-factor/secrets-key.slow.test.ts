import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { signUp } from '../../testing/people.ts'
import { turnOnApp } from '../../testing/second-factor.ts'
import { runServer } from '../../testing/server-process.ts'
import { startSite } from '../../testing/site.ts'

const keyOf = (name: string) => `${name}:${randomBytes(32).toString('base64')}`

describe('the start of a site with authenticator apps', () => {
  test('T12 N1 fails in production with one line that names SECRETS_KEY, if the key is missing or wrong', async (t) => {
    const site = await startSite(t, { SECRETS_KEY: keyOf('first') })
    await turnOnApp(site, await signUp(site))
    const production = {
      NODE_ENV: 'production',
      DATABASE_URL: site.config.databaseUrl,
      PUBLIC_URL: 'https://example.com',
      JWT_SECRET: randomBytes(32).toString('base64'),
      BCRYPT_COST: '10',
      THROTTLE: 'on',
    }
    for (const [key, line] of [
      [{}, /^SECRETS_KEY must be set, because accounts have authenticator apps\. .+\n$/],
      [{ SECRETS_KEY: keyOf('second') }, /^SECRETS_KEY has no key "first", which encrypted a secret\. .+\n$/],
    ] as const) {
      const { code, stdout, stderr } = await runServer(t, { ...production, ...key }).ended
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, line)
    }
  })
})
