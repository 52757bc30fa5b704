// Compares the processor time of requests with long headers: `npm run attack` on an idle machine.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { signIn, signUp } from '../people.ts'
import { startSite } from '../site.ts'

const size = 15_000
const hostile: Record<string, string> = {
  accept: `"${','.repeat(size)}`,
  'accept-language': `"${','.repeat(size)}`,
  cookie: ';  session='.repeat(size / 12),
  'content-type': `application/json${';a=b'.repeat(size / 4)}`,
  'if-none-match': '"a",'.repeat(size / 4),
  'user-agent': 'a'.repeat(size),
  'x-forwarded-for': '192.0.2.1,'.repeat(size / 10),
  'x-forwarded-proto': ', '.repeat(size / 2),
}

/** Processor time of the process in microseconds: the lowest of several rounds. */
async function cost(send: () => Promise<unknown>): Promise<number> {
  const rounds: number[] = []
  for (let round = 0; round < 3; round += 1) {
    const before = process.cpuUsage()
    for (let count = 0; count < 5; count += 1) await send()
    const { user, system } = process.cpuUsage(before)
    rounds.push(user + system)
  }
  return Math.min(...rounds)
}

describe('a request header of 15 KB', () => {
  test('P12 costs little more than a harmless header of that size, whatever it contains', async (t) => {
    const site = await startSite(t, { TRUST_PROXY: '1' })
    const ada = await signIn(site, await signUp(site))
    const requests = {
      'a page': (headers: Record<string, string>) => ada.page('/account/security', headers),
      'an error': (headers: Record<string, string>) => site.visitor().get('/nowhere', headers),
      'a sign-in': (headers: Record<string, string>) => site.visitor().json('/login', {}, headers),
    }
    // Before it was bounded, such an `Accept` cost more than ten times as much.
    for (const [what, request] of Object.entries(requests)) {
      const harmless = await cost(() => request({ 'x-harmless': 'a'.repeat(size) }))
      for (const [name, value] of Object.entries(hostile)) {
        const ratio = (await cost(() => request({ [name]: value }))) / harmless
        assert.ok(ratio < 8, `${name} of ${what}: ${ratio}`)
      }
    }
  })
})
