import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { bearer, signUp, takeJWT } from '../testing/people.ts'
import { recordSiteStatements } from '../testing/record-site-statements.ts'
import { startSite } from '../testing/site.ts'

const secret = 'a secret for a test of thirty-two bytes or more'
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const decode = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString())

/** A token with any header and payload, and a valid MAC. */
function forge(header: unknown, payload: unknown): string {
  const input = `${encode(header)}.${encode(payload)}`
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}

async function siteWithToken(t: TestContext) {
  const site = await startSite(t, { JWT_SECRET: secret })
  const [header, payload] = (await takeJWT(site, await signUp(site))).split('.').slice(0, 2).map(decode)
  const statements = await recordSiteStatements(t, site)
  /** The statuses of a route with a database query and of a route without. */
  const request = async (token: string) => {
    const answers = [
      await site.visitor().get('/me', bearer(token)),
      await site.visitor().post('/validateLoggedInUser', bearer(token)),
    ]
    return answers.map(({ status }) => status)
  }
  assert.deepEqual(await request(forge(header, payload)), [200, 200], 'the forged token is valid')
  statements()
  return { header, payload, request, statements }
}

describe('a signed token', () => {
  test('is rejected at /me if passwordChangedAt differs from the account, and valid without this claim', async (t) => {
    const { header, payload, request, statements } = await siteWithToken(t)
    const { passwordChangedAt, ...others } = payload
    const earlier = { ...payload, passwordChangedAt: passwordChangedAt - 1 }
    assert.deepEqual(await request(forge(header, others)), [200, 200])
    assert.deepEqual(await request(forge(header, earlier)), [401, 200])
    statements()
    for (const bad of [null, true, '', `${passwordChangedAt}`, [passwordChangedAt], { $ne: 0 }, 0.5]) {
      const token = forge(header, { ...payload, passwordChangedAt: bad })
      assert.deepEqual(await request(token), [401, 401], JSON.stringify(bad))
    }
    assert.deepEqual(statements(), [])
  })
})
