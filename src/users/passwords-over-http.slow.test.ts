import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import bcrypt from 'bcrypt'
import { dump } from '../testing/database.ts'
import { registration, signUp } from '../testing/people.ts'
import { type Site, startSite } from '../testing/site.ts'
import { siteWithAda } from '../testing/site-with-ada.ts'

describe('passwords', () => {
  test('B2 B3 B4 B5 reach the hash as they were typed, except for their Unicode form', async (t) => {
    const site = await startSite(t)
    const odd = [
      ' spaces at both ends ',
      'nul \0 inside',
      'tab\tand\nnew line',
      '🙂🙃🙂🙃🙂🙃🙂🙃',
      'كلمة السر الطويلة',
      'a:b::c:d:e',
      '%00%0d%0a+&=',
      '{"$ne": null}',
      'crème brûlée',
      `${'界'.repeat(340)}last`,
    ]
    for (const [i, right] of odd.entries()) {
      const person = await signUp(site, `P${i}`, { password: right, confirmPassword: right })
      assert.equal(await logIn(site, person, right.normalize('NFD')), 200, right)
      const fields = { username: person.email, password: right }
      // A browser sends each line break in a form as CRLF.
      if (!right.includes('\n'))
        assert.equal((await site.visitor().form('/login', fields)).status, 303, right)
      const wrong = [right.slice(0, -1), right.trim(), right.split('\0', 1).join(), right.toUpperCase()]
      for (const other of wrong)
        if (other !== right) assert.equal(await logIn(site, person, other), 401, other)
    }
  })

  test('B6 that are too long are rejected before they are hashed', async (t) => {
    const { site, person, ada } = await siteWithAda(t)
    const before = await dump(site)
    const { mock: compared } = t.mock.method(bcrypt, 'compare')
    const { mock: hashed } = t.mock.method(bcrypt, 'hash')
    const huge = 'x'.repeat(1_000_000)
    const fields = { username: person.email, password: huge, currentPassword: huge, confirmPassword: huge }
    for (const path of ['/users', '/login', '/account/password', '/account/close']) {
      assert.equal((await ada.json(path, fields)).status, 413, path)
      assert.equal((await ada.form(path, fields)).status, 413, path)
    }
    const tooLong = 'x'.repeat(1025)
    assert.equal(await logIn(site, person, tooLong), 401)
    assert.equal(await logIn(site, { email: 'nobody@example.com' }, tooLong), 401)
    const body = registration('Bob', { password: tooLong, confirmPassword: tooLong })
    const { status, record } = await site.visitor().json('/users', body)
    assert.deepEqual([status, record.detail], [400, 'The password must be at most 1024 bytes long.'])
    assert.equal((await ada.json('/account/close', { password: tooLong })).status, 400)
    assert.deepEqual([compared.callCount(), hashed.callCount()], [0, 0])
    assert.deepEqual(await dump(site), before)
  })
})

async function logIn(site: Site, person: { email: string }, secret: string): Promise<number> {
  return (await site.visitor().json('/login', { username: person.email, password: secret })).status
}
