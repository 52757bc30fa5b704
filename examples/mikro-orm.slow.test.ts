import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Browser } from '../src/auth/testing/browser.ts'
import { basic, bearer } from './testing/headers.ts'
import { example } from './testing/program.ts'

describe('examples/mikro-orm.ts', () => {
  const program = example('mikro-orm.ts')
  const email = 'bob@example.com'
  const form = { name: 'Ada', email, password: 'analytical', confirmPassword: 'analytical' }
  const signUp = (body: unknown) =>
    fetch(`${program.url}/users`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const logIn = (headers = {}) => fetch(`${program.url}/login`, { method: 'POST', headers })
  const getMe = (headers = {}) => fetch(`${program.url}/me`, { headers })

  test('creates a user, and returns no hash', async () => {
    const response = await signUp(form)
    const { id, ...others } = (await response.json()) as { id: string }

    assert.equal(response.status, 201)
    assert.match(id, /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
    assert.deepEqual(others, { name: 'Ada', email })
  })

  test('rejects each invalid field with its own message', async () => {
    const long = 'a'.repeat(73)
    for (const [fields, reason] of [
      [{ name: ' ' }, /name/],
      [{ name: { $ne: '' } }, /name/],
      [{ name: 'A\0da' }, /name/],
      [{ email: 'example.com' }, /address/],
      [{ email: ['a@example.com'] }, /address/],
      [{ password: 'seven77', confirmPassword: 'seven77' }, /^The password must/],
      [{ password: long, confirmPassword: long }, /^The password must/],
      [{ confirmPassword: 'difference' }, /did not match/],
    ] as const) {
      const response = await signUp({ ...form, email: 'eve@example.com', ...fields })

      assert.equal(response.status, 400)
      assert.match(await response.text(), reason)
    }
    for (const body of [[], {}]) assert.equal((await signUp(body)).status, 400)
    assert.equal((await logIn(basic('eve@example.com', form.password))).status, 401)
  })

  test('rejects the address of another account', async () => {
    const response = await signUp({ ...form, name: 'Eve' })

    assert.equal(response.status, 409)
    assert.doesNotMatch(await response.text(), /insert|UNIQUE/i)
  })

  test('returns a new token for a password, and the user for the token', async () => {
    const response = await logIn(basic(email, form.password))
    const { value, user } = (await response.json()) as { value: string; user: { id: string } }
    const me = await getMe(bearer(value))

    assert.equal(response.status, 200)
    assert.equal(response.headers.get('set-cookie'), null)
    assert.equal(Buffer.from(value, 'base64').length, 16)
    assert.deepEqual(await me.json(), { id: user.id, name: 'Ada', email })
    assert.equal(me.headers.get('set-cookie'), null)
  })

  test('S60 starts a session for a form, and accepts its cookie', async () => {
    const browser = new Browser(program.url)
    const response = await browser.post('/login', { username: email, password: form.password })
    const me = await browser.get('/me')

    assert.equal(response.status, 200)
    assert.equal(me.status, 200)
    assert.deepEqual(await me.json(), await response.json())
  })

  test('rejects wrong credentials and unknown tokens, and starts no session for a wrong form', async () => {
    for (const headers of [basic(email, 'wrong'), basic(email.toUpperCase(), form.password), {}])
      assert.equal((await logIn(headers)).status, 401)
    for (const fields of [
      { username: email, password: 'wrong' },
      { username: 'nobody@example.com', password: form.password },
      { 'username[$ne]': '', password: form.password },
    ]) {
      const browser = new Browser(program.url)
      assert.equal((await browser.post('/login', fields)).status, 401)
      assert.equal(browser.cookie, '')
    }
    for (const headers of [bearer('AAAAAAAAAAAAAAAAAAAAAA=='), bearer("'"), basic(email, form.password), {}])
      assert.equal((await getMe(headers)).status, 401)
  })
})
