import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { rawRequest } from '../../auth/testing/raw-request.ts'
import { dumpAll } from '../../testing/dump.ts'
import { bearer, signIn, signUp, takeJWT, takeToken } from '../../testing/people.ts'
import { startSite } from '../../testing/site.ts'
import { siteWithAda } from '../../testing/site-with-ada.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

const scheme = fc.constantFrom(
  'Basic',
  'bAsIc',
  'Bearer',
  'BEARER',
  'Digest',
  'Negotiate',
  '',
  'Basic,',
  'Bearer=',
)
const gap = fc.constantFrom('', ' ', '  ', '     ', '\t', ' \t ', ', ', '%20', ':')
const tail = fc.constantFrom('', '', '', ' x', ',', ', Basic YTpi', '\t', '=', '%', ' realm="x"')
// Node's HTTP client cannot send DEL (0x7F).
const latin1 = fc.string({
  unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code === 0x7f ? 0x20 : code)),
})
const word = fc.oneof(
  fc.base64String(),
  fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64')),
  latin1,
  fc.constantFrom(
    '%'.repeat(2000),
    'x'.repeat(14_000),
    `${base64('a:b')}!`,
    'eyJ.eyJ.eyJ',
    '..',
    `kauth_${'A'.repeat(49)}`,
  ),
)
const values = fc.sample(
  fc.tuple(scheme, gap, word, tail).map((parts) => parts.join('')),
  500,
)

describe('an Authorization header', () => {
  test('A1 with an invalid value gets 401 on guarded routes, and is ignored on pages (500 and 40 generated values)', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const before = await dumpAll(site)
    for (const authorization of values) {
      const path = authorization.length % 2 ? '/me' : '/secure'
      const { status, cookies } = await site.visitor().get(path, { authorization })
      assert.deepEqual([status, cookies], [401, []], authorization.slice(0, 60))
    }
    for (const authorization of values.slice(0, 40)) {
      assert.equal((await site.visitor().page('/', { authorization })).status, 200)
      assert.equal((await site.visitor().post('/login', { authorization })).status, 401)
    }
    assert.deepEqual(await dumpAll(site), before)
    assert.equal((await ada.get('/me')).status, 200)
  })

  test('A1 is accepted only as one scheme, one or more spaces and one word', async (t) => {
    const site = await startSite(t)
    const token = await takeToken(site, await signUp(site))
    const port = Number(new URL(site.url).port)
    const status = async (...lines: string[]) => (await rawRequest(port, lines, 'GET /me HTTP/1.1')).status
    for (const good of [`Bearer ${token}`, `bearer ${token}`, `BEARER    ${token}`])
      assert.equal(await status(`Authorization: ${good}`), 200, good)
    for (const bad of [
      ...[
        `Bearer\t${token}`,
        `Bearer${token}`,
        `Bearer ${token} ${token}`,
        `Bearer ${token},`,
        `Bearer "${token}"`,
      ],
      ...[
        `Bearer, Bearer ${token}`,
        `Bearer ${token}\tx`,
        `Bearer \u00a0${token}`,
        token,
        `Token ${token}`,
        'Bearer',
      ],
    ])
      assert.equal(await status(`Authorization: ${bad}`), 401, bad)
    assert.equal(await status(`Authorization: Bearer ${token}`, `Authorization: Bearer ${token}`), 401)
    assert.equal(await status(`Authorization: Bearer ${token}`, 'authorization: x'), 401)
  })
})

describe('the signed-in user', () => {
  test('A6 belongs to one request: each of 1,000 requests, 500 at a time, gets the name of its user', async (t) => {
    const site = await startSite(t)
    const senders: { name: string; headers: Record<string, string> }[] = []
    for (let i = 0; i < 50; i += 1) {
      const person = await signUp(site, `Person${i}`)
      const sources = [
        async () => ({ cookie: `session=${(await signIn(site, person)).session}` }),
        async () => bearer(await takeToken(site, person)),
        async () => bearer(await takeJWT(site, person)),
      ]
      senders.push({ name: person.name, headers: await (sources[i % 3] ?? assert.fail())() })
    }
    const agent = new Agent({ keepAlive: true, maxSockets: 500 })
    t.after(() => agent.destroy())
    const requests = Array.from(
      { length: 1000 },
      (_, i) => senders[(i * 7) % senders.length] ?? assert.fail(),
    )
    const answers = await Promise.all(
      requests.map(async ({ headers }) => {
        const [incoming] = await once(request(`${site.url}/me`, { agent, headers }).end(), 'response')
        return JSON.parse(await text(incoming))
      }),
    )
    assert.deepEqual(
      answers.map(({ name }) => name),
      requests.map(({ name }) => name),
    )
  })
})
