import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { bearer, signIn, signUp, takeJWT, takeToken } from '../../testing/people.ts'
import { startSite } from '../../testing/site.ts'

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
