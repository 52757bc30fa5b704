import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../testing/database.ts'
import { dumpAll } from '../../testing/dump.ts'
import {
  addPasskey,
  loadOptions,
  newAuthenticator,
  optionsOf,
  passkeySite,
  passkeysOf,
  signInWithPasskey,
} from '../../testing/passkey-visitor.ts'
import { basic, password, signIn, signUp } from '../../testing/people.ts'
import { ageSessions } from '../../testing/second-factor.ts'
import type { Site } from '../../testing/site.ts'

const eventsOf = async (site: Site) =>
  (await sql(site, `select event, detail from events where event like 'passkey%' order by id`)).map(
    ({ event, detail }) => [event, detail],
  )

describe('POST /account/passkeys', () => {
  test('U11 adds a passkey, shows it on the page and in the JSON, and sends a notice', async (t) => {
    const { site, visitor } = await passkeySite(t)
    await sql(site, 'update users set email_verified_at = created_at')
    assert.match((await visitor.page('/account/security')).text, /You have no passkeys\./)
    await addPasskey(visitor, ' Ada’s <phone> ')
    const { text } = await visitor.page('/account/security')
    assert.match(text, /The passkey “Ada’s &lt;phone&gt;” has been added\./)
    assert.match(text, /<h3><bdi>Ada’s &lt;phone&gt;<\/bdi>/)
    const [passkey, ...others] = await passkeysOf(visitor)
    assert.deepEqual(others, [])
    assert.deepEqual(Object.keys(passkey ?? {}), ['id', 'name', 'createdAt', 'lastUsedAt'])
    assert.deepEqual([passkey?.name, passkey?.lastUsedAt], ['Ada’s <phone>', null])
    assert.deepEqual(await eventsOf(site), [['passkey added', 'Ada’s <phone>']])
    const mails = (await sql(site, 'select * from mails')).map((mail) => JSON.stringify(mail))
    assert.equal(mails.filter((mail) => mail.includes('A passkey was added')).length, 1)
  })

  test('responds to JSON with the record, and uses the device as the default name', async (t) => {
    const { visitor } = await passkeySite(t)
    const credential = newAuthenticator().create(await loadOptions(visitor, '/account/security'))
    const { status, record } = await visitor.json(
      '/account/passkeys',
      { credential },
      { 'user-agent': 'curl/8' },
    )
    assert.deepEqual([status, record.name, record.lastUsedAt], [201, 'A program (curl)', null])
    assert.deepEqual([record], await passkeysOf(visitor))
  })

  test('U11 requires a fresh session, and shows no options without one', async (t) => {
    const { site, visitor } = await passkeySite(t)
    const credential = newAuthenticator().create(await loadOptions(visitor, '/account/security'))
    await ageSessions(site)
    const page = await visitor.page('/account/security')
    assert.equal(optionsOf(page), undefined)
    assert.match(page.text, /href="\/confirm\?next=%2Faccount%2Fsecurity"/)
    const form = await visitor.form('/account/passkeys', { credential, name: 'x' })
    assert.deepEqual([form.status, form.headers.location], [303, '/confirm?next=%2Faccount%2Fsecurity'])
    const json = await visitor.json('/account/passkeys', { credential })
    assert.deepEqual([json.status, json.record.code], [401, 'confirmation_required'])
    assert.equal((await visitor.page('/account/passkeys')).headers.location, '/account/security')
  })

  test('U1 U2 rejects with 400 an invalid answer, and an answer to the challenge of another session, user or ceremony', async (t) => {
    const { site, ada, visitor } = await passkeySite(t)
    const from = newAuthenticator()
    const options = await loadOptions(visitor, '/account/security')
    const other = await signIn(site, ada)
    const bob = await signIn(site, await signUp(site, 'Bob'))
    const credential = from.create(options)
    for (const wrong of [other, bob])
      assert.equal((await wrong.json('/account/passkeys', { credential })).status, 400)
    assert.equal((await site.visitor().json('/account/passkeys', { credential }, basic(ada))).status, 400)
    const unverified = from.create(await loadOptions(visitor, '/account/security'), { flags: 1 })
    const answer = await visitor.form('/account/passkeys', { credential: unverified, name: 'x' })
    assert.equal(answer.status, 400)
    assert.match(answer.text, /The passkey was not accepted/)
    assert.ok(optionsOf(answer), 'the page has new options')
    const forSignIn = await loadOptions(site.visitor(), '/login')
    const mixed = from.create({ ...options, challenge: forSignIn.challenge })
    assert.equal((await visitor.json('/account/passkeys', { credential: mixed })).status, 400)
    for (const hostile of ['', '{}', 1, {}, null])
      assert.equal((await visitor.json('/account/passkeys', { credential: hostile })).status, 400)
    assert.deepEqual(await passkeysOf(visitor), [])
    assert.equal((await visitor.json('/account/passkeys', { credential })).status, 201, 'still valid')
  })

  test('rejects an invalid name, and then accepts the same answer with a valid name', async (t) => {
    const { visitor } = await passkeySite(t)
    const credential = newAuthenticator().create(await loadOptions(visitor, '/account/security'))
    for (const name of ['x'.repeat(101), 'a\u202eb']) {
      const answer = await visitor.form('/account/passkeys', { credential, name })
      assert.equal(answer.status, 400)
      assert.match(answer.text, /<title>Error: Security/)
    }
    assert.equal((await visitor.form('/account/passkeys', { credential, name: 'ok' })).status, 303)
  })
})

describe('POST /account/passkeys/:id/name', () => {
  test('U8 renames a passkey of the user', async (t) => {
    const { site, visitor } = await passkeySite(t)
    await addPasskey(visitor)
    const id = (await passkeysOf(visitor))[0]?.id
    const { status, headers } = await visitor.form(`/account/passkeys/${id}/name`, { name: ' Work ' })
    assert.deepEqual([status, headers.location], [303, '/account/security'])
    assert.equal((await passkeysOf(visitor))[0]?.name, 'Work')
    assert.equal(
      (await visitor.json(`/account/passkeys/${id?.toUpperCase()}/name`, { name: 'Home' })).status,
      204,
    )
    const wrong = await visitor.form(`/account/passkeys/${id}/name`, { name: ' ' })
    assert.equal(wrong.status, 400)
    assert.match(wrong.text, /Enter a name for the passkey\./)
    const again = await visitor.page(`/account/passkeys/${id}/name`)
    assert.equal(again.headers.location, '/account/security')
    assert.deepEqual((await eventsOf(site)).slice(1), [
      ['passkey renamed', 'Work'],
      ['passkey renamed', 'Home'],
    ])
  })

  test('U8 C6 responds with the same 404 to a missing passkey and to a passkey of another user', async (t) => {
    const { site, visitor } = await passkeySite(t)
    await addPasskey(visitor)
    const id = (await passkeysOf(visitor))[0]?.id
    const bob = await signIn(site, await signUp(site, 'Bob'))
    const before = await dumpAll(site)
    const malformed = ['x', "x'%20or%201=1", 'x'.repeat(1_000)]
    for (const each of [id, '00000000-0000-7000-8000-000000000000', ...malformed]) {
      const [renamed, removed] = [
        await bob.json(`/account/passkeys/${each}/name`, { name: 'Mine' }),
        await bob.json(`/account/passkeys/${each}/remove`, {}),
      ]
      for (const { status, record } of [renamed, removed])
        assert.deepEqual([status, record.detail], [404, 'You have no such passkey.'])
      assert.equal((await bob.json(`/account/passkeys/${each}/name`, { name: '' })).status, 400)
    }
    assert.deepEqual(await dumpAll(site), before)
  })
})

describe('POST /account/passkeys/:id/remove', () => {
  test('U11 removes a passkey, which then cannot sign in, and sends a notice', async (t) => {
    const { site, visitor } = await passkeySite(t)
    await sql(site, 'update users set email_verified_at = created_at')
    const authenticator = await addPasskey(visitor)
    const id = (await passkeysOf(visitor))[0]?.id
    const { status, headers } = await visitor.form(`/account/passkeys/${id}/remove`, {})
    assert.deepEqual([status, headers.location], [303, '/account/security'])
    assert.deepEqual(await passkeysOf(visitor), [])
    assert.equal((await signInWithPasskey(site.visitor(), authenticator)).status, 401)
    assert.deepEqual((await eventsOf(site)).at(-1), ['passkey removed', 'Laptop'])
    const mails = (await sql(site, 'select * from mails')).map((mail) => JSON.stringify(mail))
    assert.equal(mails.filter((mail) => mail.includes('A passkey was removed')).length, 1)
  })

  test('U11 removes a passkey only once in ten concurrent requests, and requires a fresh session', async (t) => {
    const { site, visitor } = await passkeySite(t)
    await addPasskey(visitor)
    const id = (await passkeysOf(visitor))[0]?.id
    await ageSessions(site)
    assert.equal(
      (await visitor.json(`/account/passkeys/${id}/remove`, {})).record.code,
      'confirmation_required',
    )
    assert.equal((await visitor.json('/confirm', { password })).status, 204)
    const attempt = () => visitor.json(`/account/passkeys/${id}/remove`, {})
    const statuses = (await Promise.all(Array.from({ length: 10 }, attempt))).map(({ status }) => status)
    assert.deepEqual(statuses.sort(), [204, ...Array(9).fill(404)])
  })
})

describe('POST /confirm with a passkey', () => {
  test('U10 T14 makes the session fresh under a new identifier', async (t) => {
    const { site, visitor } = await passkeySite(t)
    const authenticator = await addPasskey(visitor)
    await ageSessions(site)
    const options = await loadOptions(visitor, '/confirm?next=/account/security')
    assert.deepEqual(
      options.allowCredentials.map(({ id }: { id: string }) => id),
      [authenticator.id],
    )
    const earlier = visitor.session
    const credential = authenticator.get(options)
    const { status, headers } = await visitor.form('/confirm', {
      credential,
      password: '',
      next: '/account/security',
    })
    assert.deepEqual([status, headers.location], [303, '/account/security'])
    assert.notEqual(visitor.session, earlier)
    assert.ok(optionsOf(await visitor.page('/account/security')))
    assert.equal((await visitor.json('/confirm', { credential })).status, 401, 'an answer works once')
  })

  test('U1 U2 rejects an invalid answer, a passkey of another user, and the answer of a sign-in', async (t) => {
    const { site, visitor } = await passkeySite(t)
    const authenticator = await addPasskey(visitor)
    const bob = await signIn(site, await signUp(site, 'Bob'))
    assert.equal(optionsOf(await bob.page('/confirm')), undefined, 'Bob has no passkey')
    const ofBob = await addPasskey(bob)
    await ageSessions(site)
    const load = () => loadOptions(visitor, '/confirm')
    for (const credential of [
      authenticator.get(await load(), { flags: 1 }),
      authenticator.get(await load(), { origin: 'https://evil.example' }),
      ofBob.get(await load()),
      authenticator.get(await loadOptions(site.visitor(), '/login')),
      '{}',
    ]) {
      const form = await visitor.form('/confirm', { credential, next: '/account/sessions' })
      assert.equal(form.status, 401)
      assert.match(form.text, /The passkey was not accepted/)
      assert.match(form.text, /name="next" value="\/account\/sessions"/)
    }
    assert.equal((await visitor.json('/confirm', { credential: '{}' })).record.code, 'wrong_credentials')
    assert.equal((await visitor.json('/account/security/totp', {})).record.code, 'confirmation_required')
  })
})
