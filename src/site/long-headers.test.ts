import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startSite } from '../testing/site.ts'

// `npm run attack` measures the processor time.
describe('P12 a long request header is not parsed', () => {
  test('an `Accept` above 1 KB counts as any type', async (t) => {
    const site = await startSite(t)
    const typeOf = async (accept: string) =>
      (await site.visitor().get('/nowhere', { accept })).headers['content-type']
    assert.match(String(await typeOf(Array(100).fill('text/html').join())), /^text\/html/)
    assert.match(String(await typeOf(Array(110).fill('text/html').join())), /json/)
  })

  test('a `Content-Type` above 256 characters gets 415', async (t) => {
    const site = await startSite(t)
    const status = async (length: number) => {
      const type = { 'content-type': `application/json; x=${'a'.repeat(length)}` }
      return (await site.visitor().send('POST', '/login', type, '{}')).status
    }
    assert.deepEqual([await status(100), await status(300)], [401, 415])
  })
})
