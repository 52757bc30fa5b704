import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import bcrypt from 'bcrypt'
import { dump, sql } from '../testing/database.ts'
import { basic, password, registration, signIn, signUp } from '../testing/people.ts'
import { type Site, startSite } from '../testing/site.ts'

describe('passwords', () => {
  test('B1 are stored as bcrypt hashes of the configured cost, each with its own salt', async (t) => {
    const site = await startSite(t, { BCRYPT_COST: '5' })
    for (const name of ['Ada', 'Bob', 'Eve']) await signUp(site, name)
    const hashes = (await sql(site, 'select password_hash from users')).map((row) =>
      String(row.password_hash),
    )
    for (const hash of hashes) {
      assert.match(hash, /^\$2b\$05\$[./A-Za-z\d]{53}$/)
      assert.ok(await bcrypt.compare(password, hash))
    }
    assert.equal(new Set(hashes.map((hash) => hash.slice(7, 29))).size, 3, 'salts')
  })

  test('B2 do not match if only the last character differs, up to the maximum length', async (t) => {
    const site = await startSite(t)
    const characters = [
      ['a', 'b'],
      ['é', 'è'],
      ['🙂', '🙃'],
      ['界', '畍'],
    ] as const
    let pairs = 0
    for (const length of [71, 72, 73, 74, 100, 1000, 1024]) {
      for (const [one, other] of characters) {
        // Passwords of `length` bytes that differ in the last character only.
        const last = Buffer.byteLength(one)
        const rest = length - last - 'yz'.length
        const fill = one.repeat(Math.floor(rest / last)) + 'x'.repeat(rest % last)
        const [right, wrong] = [`${fill}yz${one}`, `${fill}yz${other}`]
        pairs += 1
        const person = await signUp(site, `P${pairs}`, { password: right, confirmPassword: right })
        assert.equal(await logIn(site, person, wrong), 401, `${length} bytes of ${one}`)
        assert.equal(
          await logIn(site, person, `${fill}yz`),
          401,
          `${length} bytes of ${one}, the last missing`,
        )
        assert.equal(await logIn(site, person, right), 200, `${length} bytes of ${one}`)
      }
    }
  })

  test('B2 may have 64 characters, with emoji or in Han, Cyrillic, Arabic or Latin script', async (t) => {
    const site = await startSite(t)
    for (const [i, character] of ['🙂', '界', 'ш', 'ع', 'a'].entries()) {
      const long = `${character.repeat(63)}!`
      const person = await signUp(site, `P${i}`, { password: long, confirmPassword: long })
      assert.equal(await logIn(site, person, long), 200)
      assert.equal(await logIn(site, person, `${character.repeat(63)}?`), 401)
    }
  })

  test('B3 that contain NUL are compared completely', async (t) => {
    const site = await startSite(t)
    const base = 'zq abcdefgh'
    const alike = [base, `${base}\0`, `${base}\0${base}`, `${base}\0x123`, `${base}\0y123`, `\0${base}`]
    for (const [i, right] of alike.entries()) {
      const person = await signUp(site, `P${i}`, { password: right, confirmPassword: right })
      for (const typed of alike) {
        const fields = { username: person.email, password: typed }
        const { status } = await site.visitor().form('/login', fields)
        assert.equal(status, typed === right ? 303 : 401, JSON.stringify({ right, typed }))
      }
    }
  })

  test('B4 match in composed and decomposed Unicode form, but not in form NFKC', async (t) => {
    const site = await startSite(t)
    const secret = 'Crème brûlée ﬁn'
    const person = await signUp(site, 'Ada', {
      password: secret.normalize('NFC'),
      confirmPassword: secret.normalize('NFC'),
    })
    for (const form of ['NFC', 'NFD'] as const)
      assert.equal(await logIn(site, person, secret.normalize(form)), 200, form)
    for (const other of [
      secret.normalize('NFKC'),
      secret.toLowerCase(),
      secret.toUpperCase(),
      ` ${secret}`,
      `${secret} `,
      secret.replace(' ', '  '),
      secret.replace(' ', '\u00a0'),
      'Creme brulee fin',
    ])
      assert.equal(await logIn(site, person, other), 401, other)
  })

  test('B4 with an unpaired surrogate are rejected with 400, and fail at sign-in', async (t) => {
    const site = await startSite(t)
    for (const secret of ['\ud800 lone surrogate', 'lone surrogate \udc00', '\udc00\ud800 the wrong way']) {
      const body = registration('Ada', { password: secret, confirmPassword: secret })
      assert.equal((await site.visitor().json('/users', body)).status, 400)
      const login = { username: 'ada@example.com', password: secret }
      assert.ok([400, 401].includes((await site.visitor().json('/login', login)).status))
    }
    assert.deepEqual((await dump(site)).users, [])
  })

  test('B5 have a minimum length in characters and no composition rule', async (t) => {
    const site = await startSite(t)
    const odd = [
      'lower case only',
      'UPPER CASE ONLY',
      '        .       ',
      ' leading space',
      'trailing space ',
      'no_digits_here',
      '8675309 8675309 1',
      '🙂🙃🙂🙃🙂🙃🙂🙃',
      'пароль мой длинный',
      'كلمة السر الطويلة',
      '秘密の合言葉です',
      'tab\tin the middle',
      'new\nline in it',
      `quote ' and " and \\`,
      '<script>alert(1)</script>',
      "'; drop table users; --",
      '%00%0d%0a%2e%2e',
      '\u0024{jndi:ldap://x}',
      'null undefined NaN',
      '{"$ne": null}',
      'a:b::c:d:e',
      ':starts with one',
      'ends with one:',
      '\u200b\u200b\u200b zero width',
      'e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301',
      '--------------------x',
      'q'.repeat(1024),
      '👨‍👩‍👧‍👦 the family',
      '\u202eright to left',
      '\u0007 a bell rings',
    ]
    for (const [i, secret] of odd.entries()) {
      const person = await signUp(site, `Person ${i}`, {
        email: `p${i}@example.org`,
        password: secret,
        confirmPassword: secret,
      })
      assert.equal(await logIn(site, person, secret), 200, secret)
    }
    for (const short of ['', 'seven77', '🙂'.repeat(7), 'e\u0301'.repeat(7), ' '.repeat(7)]) {
      const body = registration('Eve', { password: short, confirmPassword: short })
      assert.equal((await site.visitor().json('/users', body)).status, 400, short)
    }
  })

  test('B6 that are too long are rejected before they are hashed', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const ada = await signIn(site, person)
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

  test('B7 that are common or made of public data are rejected with the reason', async (t) => {
    const site = await startSite(t)
    const detailOf = async (secret: string) => {
      const body = registration('Grace Hopper', {
        email: 'grace.hopper@navy.example',
        password: secret,
        confirmPassword: secret,
      })
      const { status, record } = await site.visitor().json('/users', body)
      assert.equal(status, 400, secret)
      return record.detail
    }
    for (const secret of ['password', 'PassWord1', '12345678', 'qwertyuiop'])
      assert.equal(
        await detailOf(secret),
        'The password is one of the most common ones. Choose one that is harder to guess.',
      )
    assert.match(String(await detailOf('grace.hopper@navy.example')), /made of your e-mail address/)
    assert.match(String(await detailOf('HopperGrace1906')), /made of your /)
    assert.match(String(await detailOf('koa-authenticators!')), /made of the name of this site/)
    assert.deepEqual((await dump(site)).users, [])
  })

  test('B10 and their hashes appear in no response and in no log line', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const ada = await signIn(site, person)
    const [row] = await sql(site, 'select password_hash from users')
    const hash = String(row?.password_hash)
    // The test client checks every response for these secrets, and `startSite` checks the log after the test.
    for (const part of [hash, hash.slice(7, 29), hash.slice(29)]) site.secrets.add(part)
    const paths = [
      '/',
      '/account',
      '/account/password',
      '/account/close',
      '/account/sessions',
      '/account/tokens',
    ]
    for (const path of [...paths, '/account/activity', '/me', '/secure', '/nowhere']) {
      await ada.page(path)
      await ada.get(path)
      await site.visitor().get(path, basic(person))
    }
    const wrong = { currentPassword: hash, password: hash, confirmPassword: 'x' }
    await ada.form('/account/password', wrong)
    await ada.json('/account/password', wrong)
    await ada.form('/login', { username: person.email, password: hash })
    assert.equal(await logIn(site, person, hash), 401, 'the hash is not a password')
    await site.visitor().json('/users', registration('Ada'))
    assert.ok(site.log.length > 30)
  })
})

async function logIn(site: Site, person: { email: string }, secret: string): Promise<number> {
  return (await site.visitor().json('/login', { username: person.email, password: secret })).status
}
