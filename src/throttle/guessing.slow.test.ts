import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { availableParallelism } from 'node:os'
import { describe, type TestContext, test } from 'node:test'
import bcrypt from 'bcrypt'
import { countHashes } from '../testing/count-hashes.ts'
import { sql } from '../testing/database.ts'
import { until } from '../testing/faults/until.ts'
import { addAdmin, basic, password, registration, signIn, signUp } from '../testing/people.ts'
import type { Answer } from '../testing/promises.ts'
import { recordStatements } from '../testing/record-statements.ts'
import { startSite } from '../testing/site.ts'
import type { Visitor } from '../testing/visitor.ts'

async function siteWithAda(t: TestContext) {
  const site = await startSite(t, { THROTTLE: 'on', TRUST_PROXY: '1' })
  const person = await signUp(site)
  const from = (address: string) => ({ 'x-forwarded-for': address })
  return { site, person, from }
}

function statuses(answers: readonly Answer[]): Record<number, number> {
  const counted: Record<number, number> = {}
  for (const { status } of answers) counted[status] = (counted[status] ?? 0) + 1
  return counted
}

describe('a site with rate limits', () => {
  test('D1 D5 shares one limit between ten kinds of requests: ten of 30 wrong passwords are evaluated', async (t) => {
    const { site, person, from } = await siteWithAda(t)
    const ada = await signIn(site, person)
    ada.cookies.delete('device')
    const guess = 'a wrong password'
    const change = {
      currentPassword: guess,
      password: 'eight wise canaries 1816',
      confirmPassword: 'eight wise canaries 1816',
    }
    const wrong = basic(person, guess)
    const here = from('192.0.2.9')
    const requests = [
      () => site.visitor().form('/login', { username: person.email, password: guess }, here),
      () => site.visitor().json('/login', { username: person.email, password: guess }, here),
      () => site.visitor().post('/login', { ...wrong, ...here }),
      () => site.visitor().post('/login?as=jwt', { ...wrong, ...here }),
      () => site.visitor().get('/account/sessions', { ...wrong, ...here }),
      () => site.visitor().json('/account/name', { name: 'Eve' }, { ...wrong, ...here }),
      () => site.visitor().post('/account/sessions/end-others', { ...wrong, ...here }),
      () => ada.json('/account/password', change, here),
      () => ada.form('/account/close', { password: guess, confirm: 'on' }, here),
      () => ada.json('/account/email', { email: 'eve@example.com', password: guess }, here),
    ]
    const hashes = countHashes(t)
    const answers: Answer[] = []
    for (let i = 0; i < 30; i += 1) answers.push(await (requests[i % requests.length] ?? assert.fail())())
    assert.equal(hashes().evaluations, 10)
    assert.deepEqual(
      answers.map(({ status }) => status === 429),
      answers.map((_, i) => i >= 10),
    )
    const right = await site.visitor().post('/login', { ...basic(person), ...here })
    assert.deepEqual(
      [right.status, hashes().evaluations],
      [429, 0],
      'the right password is not evaluated either',
    )
  })

  test('D6 D7 evaluates ten of 200 concurrent wrong passwords, and all of 20 right ones', async (t) => {
    const { site, person, from } = await siteWithAda(t)
    const hashes = countHashes(t)
    const send = (secret: string, address: string) =>
      site.visitor().json('/login', { username: person.email, password: secret }, from(address))
    const right = await Promise.all(Array.from({ length: 20 }, () => send(password, '192.0.2.1')))
    assert.deepEqual(statuses(right), { 200: 20 })
    assert.equal(hashes().evaluations, 20)
    const wrong = await Promise.all(Array.from({ length: 200 }, () => send('a wrong password', '192.0.2.2')))
    assert.deepEqual(statuses(wrong), { 401: 10, 429: 190 })
    assert.equal(hashes().evaluations, 10)
  })

  test('N9 evaluates no waiting sign-in whose client has disconnected, and frees its slot', async (t) => {
    const { site, person, from } = await siteWithAda(t)
    const gate = Promise.withResolvers<void>()
    const { compare } = bcrypt
    const compared = t.mock.method(bcrypt, 'compare', async (given: string, stored: string) => {
      await gate.promise
      return compare(given, stored)
    })
    const running = Array.from({ length: availableParallelism() }, (_, i) =>
      site.visitor().post('/login', { ...basic(person), ...from(`192.0.2.${i}`) }),
    )
    await until('no slot is free', () => compared.mock.callCount() === running.length)

    let socket: Socket | undefined
    const listen = (message: unknown) => {
      const { request } = message as { request: IncomingMessage }
      if (request.headers['user-agent'] === 'impatient') socket = request.socket
    }
    subscribe('http.server.request.start', listen)
    t.after(() => void unsubscribe('http.server.request.start', listen))
    const statements = await recordStatements(t, site.orm)
    const hangUp = new AbortController()
    const headers = { ...basic(person), ...from('192.0.2.99'), 'user-agent': 'impatient' }
    const impatient = fetch(`${site.url}/login`, { method: 'POST', headers, signal: hangUp.signal })
    await until('the account is found', () => statements.some((each) => / from `users` /.test(each)))
    hangUp.abort()
    await assert.rejects(impatient, { name: 'AbortError' })
    await until('the site knows', () => socket?.destroyed === true)
    gate.resolve()
    assert.deepEqual(statuses(await Promise.all(running)), { 200: running.length })
    const later = await site.visitor().post('/login', { ...basic(person), ...from('192.0.2.100') })
    assert.deepEqual([later.status, compared.mock.callCount()], [200, running.length + 1])
    assert.ok(!site.log.some((line) => JSON.parse(line).level >= 40), 'no warning is logged')
  })

  test('D1 counts a device that a user with the address of an administrator has signed in from as unknown to the administrator', async (t) => {
    const { site } = await siteWithAda(t)
    const grace = await addAdmin(site)
    const eve = await signIn(site, await signUp(site, 'Grace'))
    const secure = (secret: string) => eve.get('/secure', basic(grace, secret))
    const answers: Answer[] = []
    for (let i = 0; i < 10; i += 1)
      answers.push(await site.visitor().get('/secure', basic(grace, 'a wrong password')))
    assert.deepEqual(statuses(answers), { 401: 10 })
    assert.equal((await secure(password)).status, 429)
  })

  test('D11 evaluates known devices before unknown ones', async (t) => {
    const { site, person, from } = await siteWithAda(t)
    const bob = await signUp(site, 'Bob')
    const known = await signIn(site, person)
    const gate = Promise.withResolvers<void>()
    const { compare } = bcrypt
    const compared = t.mock.method(bcrypt, 'compare', async (given: string, stored: string) => {
      await gate.promise
      return compare(given, stored)
    })
    const signInFrom = (one: Visitor, { email }: { email: string }, i: number) =>
      one.json('/login', { username: email, password }, from(`192.0.2.${i}`))
    const running = Array.from({ length: availableParallelism() }, (_, i) =>
      signInFrom(site.visitor(), bob, i),
    )
    await until('no slot is free', () => compared.mock.callCount() === running.length)
    const statements = await recordStatements(t, site.orm)
    const found = () => statements.filter((each) => / from `users` /.test(each)).length
    const unknown = Array.from({ length: 3 }, (_, i) => signInFrom(site.visitor(), bob, 100 + i))
    await until('the unknown devices wait', () => found() >= 3)
    const before = found()
    const first = signInFrom(known, person, 200)
    await until('the known device waits', () => found() > before)
    for (let turn = 0; turn < 10; turn += 1) await site.visitor().get('/healthz')
    gate.resolve()
    assert.deepEqual(statuses(await Promise.all([...running, ...unknown, first])), {
      200: running.length + 4,
    })
    const [{ passwordHash } = assert.fail()] = await sql(
      site,
      'select password_hash as "passwordHash" from users where email = ?',
      [person.email],
    )
    const order = compared.mock.calls.map(({ arguments: [, stored] }) => stored === passwordHash)
    assert.equal(order.indexOf(true), running.length)
  })

  test('C4 D12 limits sign-ups to 50 for a network, and tokens to 100 for an account', async (t) => {
    const { site, person, from } = await siteWithAda(t)
    const signUps: Answer[] = []
    for (let i = 0; i < 52; i += 1)
      signUps.push(await site.visitor().json('/users', registration('Ada'), from('192.0.2.5')))
    assert.deepEqual(statuses(signUps), { 409: 50, 429: 2 })
    assert.equal((await site.visitor().form('/users', {}, from('192.0.2.5'))).status, 400)
    const headers = { ...from('192.0.2.5'), accept: 'text/html' }
    const again = await site
      .visitor()
      .form(
        '/users',
        { name: 'Carol', email: 'carol@example.com', password, confirmPassword: password },
        headers,
      )
    assert.deepEqual([again.status, Number(again.headers['retry-after']) > 0], [429, true])
    for (const kept of ['value="Carol"', 'value="carol@example.com"', 'Too many attempts from your network.'])
      assert.ok(again.text.includes(kept), `the form again, with ${kept}`)
    assert.equal((await site.visitor().json('/users', registration('Bob'), from('192.0.2.6'))).status, 201)
    const ada = await signIn(site, person)
    const tokens: Answer[] = []
    for (let i = 0; i < 102; i += 1)
      tokens.push(
        i % 2
          ? await ada.json('/account/tokens', { name: 'backup' })
          : await site.visitor().post('/login', { ...basic(person), ...from('192.0.2.7') }),
      )
    assert.deepEqual(statuses(tokens), { 200: 50, 201: 50, 429: 2 })
  })

  test('rejects the 101st right password of an account in 15 minutes, in six kinds of requests', async (t) => {
    const { site, person, from } = await siteWithAda(t)
    const jwt = () => site.visitor().post('/login?as=jwt', { ...basic(person), ...from('192.0.2.1') })
    const hashes = countHashes(t)
    const answers: Answer[] = []
    for (let i = 0; i < 100; i += 1) answers.push(await jwt())
    assert.deepEqual([statuses(answers), hashes().evaluations], [{ 200: 100 }, 100])
    const credentials = { username: person.email, password }
    const refused = [
      await jwt(),
      await site.visitor().post('/login?as=user', { ...basic(person), ...from('192.0.2.2') }),
      await site.visitor().post('/login', { ...basic(person), ...from('192.0.2.3') }),
      await site.visitor().get('/account/activity', { ...basic(person), ...from('192.0.2.4') }),
      await site.visitor().form('/login', credentials, from('192.0.2.5')),
      await site.visitor().json('/login', credentials, from('192.0.2.6')),
    ]
    assert.deepEqual([statuses(refused), hashes().evaluations], [{ 429: 6 }, 0])
    for (const { headers, request } of refused) {
      const wait = Number(headers['retry-after'])
      assert.ok(wait > 0 && wait <= 900, request)
    }
  })

  test('D1 E10 treats a known device as unknown after a password change on another device', async (t) => {
    const { site, person, from } = await siteWithAda(t)
    const thief = await signIn(site, person)
    const owner = await signIn(site, person)
    const change = {
      currentPassword: password,
      password: 'eight wise canaries 1816',
      confirmPassword: 'eight wise canaries 1816',
    }
    for (let i = 0; i < 100; i += 1)
      await site
        .visitor()
        .post('/login', { ...basic(person, 'a wrong password'), ...from(`198.51.100.${i}`) })
    const known = await owner.json('/login', { username: person.email, password })
    assert.equal(known.status, 200, 'the owner can still sign in')
    assert.equal((await owner.json('/account/password', change)).status, 200)
    const status = async (visitor: typeof owner) =>
      (await visitor.json('/login', { username: person.email, password: change.password })).status
    assert.equal(await status(thief), 429)
    assert.equal(await status(owner), 200, 'and afterwards from the device that changed the password')
  })
})
