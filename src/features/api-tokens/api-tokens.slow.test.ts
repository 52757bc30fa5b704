import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { count } from '../../testing/database.ts'
import { basic, signIn, signUp } from '../../testing/people.ts'
import { siteWithAda } from '../../testing/site-with-ada.ts'

const path = '/account/tokens'

describe('creating many tokens', () => {
  test('D12 by form, JSON or Basic is rejected after 100 tokens of a user, counted over all routes', async (t) => {
    const { site, person, ada: here } = await siteWithAda(t, { THROTTLE: 'on' })
    const bob = await signIn(site, await signUp(site, 'Bob'))
    const requests: (() => Promise<{ status: number }>)[] = [
      () => here.form(path, { name: 'x', days: '7' }),
      () => here.json(path, { name: 'x' }),
      () => site.visitor().json(path, { name: 'x' }, basic(person)),
      () => site.visitor().post('/login', basic(person)),
    ]
    for (let i = 0; i < 100; i += 1) {
      const { status } = (await requests[i % 4]?.()) ?? assert.fail()
      assert.ok(status < 400, `${i}: ${status}`)
    }
    for (const send of requests) assert.equal((await send()).status, 429)
    assert.match(site.log.find((line) => line.includes('"throttled"')) ?? '', RegExp(person.id))
    const { headers, text } = await here.form(path, { name: 'kept', days: '7' })
    assert.match(headers['retry-after'] ?? '', /^\d+$/)
    assert.match(text, /<title>Error: API tokens[\s\S]*Too many attempts for this account\./)
    assert.match(text, /value="kept"/)
    assert.equal(await count(site, 'user_tokens'), 100)
    assert.equal((await bob.json(path, { name: 'x' })).status, 201, 'another user is not affected')
    assert.equal(
      (await here.form(path, { name: '', days: '7' })).status,
      400,
      'an invalid form is still reported',
    )
  })
})
