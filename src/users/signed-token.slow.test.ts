import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
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
  // The tests of `JWTKeys.verify` have the complete table.
  test('J1 J3 J6 J7 J8 is rejected without a connection or a query if its header or a claim is invalid', async (t) => {
    const { header, payload, request, statements } = await siteWithToken(t)
    const listener = createServer()
    let connections = 0
    listener.on('connection', (socket) => {
      connections += 1
      socket.destroy()
    })
    listener.listen(0, '127.0.0.1')
    await once(listener, 'listening')
    t.after(() => void listener.close())
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/jwks.json`
    const headers = [{ alg: 'none' }, { jku: url }, { x5u: url }, { kid: url }, { kid: 'k'.repeat(4096) }]
    const claims = [{ exp: undefined }, { iss: 'koa' }, { aud: [] }]
    const subjects = [{ $ne: null }, { $in: [payload.userId] }, [payload.userId], null, 1, '%', "' or 1=1 --"]
    const tokens = [
      ...headers.map((each) => forge({ ...header, ...each }, payload)),
      ...[...claims, ...subjects.map((userId) => ({ userId }))].map((each) =>
        forge(header, { ...payload, ...each }),
      ),
    ]
    for (const token of tokens) assert.deepEqual(await request(token), [401, 401], token)
    assert.equal(connections, 0)
    assert.deepEqual(statements(), [])
  })

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
