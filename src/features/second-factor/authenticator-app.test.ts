import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hotp, stepAt } from '../../account/second-factor/totp.ts'
import { sql } from '../../testing/database.ts'
import { password, signIn, signUp } from '../../testing/people.ts'
import { receiveMails } from '../../testing/receive-mails.ts'
import { ageSessions, fromBase32, turnOnApp } from '../../testing/second-factor.ts'
import { siteWithAda } from '../../testing/site-with-ada.ts'
import type { Visitor } from '../../testing/visitor.ts'

const setUpPage = '/account/security/totp'
const codesPage = '/account/security/recovery-codes'

/** The key on the set-up page. */
async function keyOn(visitor: Visitor): Promise<string> {
  const { text } = await visitor.page(setUpPage)
  return / data-copy="([A-Z2-7]{32})"/.exec(text)?.[1] ?? ''
}

function codeOf(secret: string): string {
  return hotp(fromBase32(secret), stepAt(Date.now()))
}

/** The recovery codes on a page. */
function codesIn({ text }: { text: string }): string[] {
  return text.match(/(?:[A-Z2-7]{4}-){5}[A-Z2-7]{4}/g) ?? []
}

describe('the set-up of an authenticator app', () => {
  test('shows the same key after a reload or a wrong code, and a new key after a new set-up', async (t) => {
    const { ada } = await siteWithAda(t)
    assert.match((await ada.page(setUpPage)).text, /I have an app/)
    const started = await ada.form(setUpPage, {})
    assert.deepEqual([started.status, started.headers.location], [303, setUpPage])
    const key = await keyOn(ada)
    assert.equal(key.length, 32)
    assert.equal(await keyOn(ada), key)
    assert.equal((await ada.get(setUpPage)).record.secret, key)
    const wrong = await ada.form(`${setUpPage}/confirm`, { code: '000000' })
    assert.equal(wrong.status, 400)
    assert.ok(wrong.text.includes(` data-copy="${key}"`))
    await ada.form(setUpPage, {})
    assert.notEqual(await keyOn(ada), key)
  })

  test('P4 expires after an hour, and at a time in the future', async (t) => {
    const { site, ada } = await siteWithAda(t)
    await ada.form(setUpPage, {})
    const code = codeOf(await keyOn(ada))
    for (const minutes of [-61, 3]) {
      await sql(site, `update totp_factors set created_at = ${Date.now() + minutes * 60_000}`)
      assert.match((await ada.page(setUpPage)).text, /I have an app/)
      assert.equal((await ada.get(setUpPage)).status, 404)
      const late = await ada.form(`${setUpPage}/confirm`, { code })
      assert.deepEqual([late.status, late.headers.location], [303, setUpPage])
    }
  })

  test('accepts a code with a space and a dash, and redirects a repeated confirmation to the recovery codes', async (t) => {
    const { site, person, ada } = await siteWithAda(t)
    await ada.form(setUpPage, {})
    const code = codeOf(await keyOn(ada)).replace(/^(...)(..)/, '$1 $2-')
    for (const _ of ['the form', 'the form again'])
      assert.equal((await ada.form(`${setUpPage}/confirm`, { code })).headers.location, codesPage)
    const codes = codesIn(await ada.page(codesPage))
    assert.equal(new Set(codes).size, 10)
    const { status, headers } = await ada.page(setUpPage)
    assert.deepEqual([status, headers.location], [303, '/account/security'])
    assert.equal((await ada.form(setUpPage, {})).headers.location, '/account/security')
    const body = { username: person.email, password, code: codes[0] }
    assert.equal((await site.visitor().json('/login', body)).status, 200)
  })

  test('requires a fresh session to show the key', async (t) => {
    const { site, ada } = await siteWithAda(t)
    await ada.form(setUpPage, {})
    await ageSessions(site)
    assert.equal((await ada.page(setUpPage)).headers.location, '/confirm?next=%2Faccount%2Fsecurity%2Ftotp')
    assert.equal((await ada.get(setUpPage)).record.code, 'confirmation_required')
  })
})

describe('the page of the recovery codes', () => {
  test('shows the codes once, and only to their owner', async (t) => {
    const { site, person } = await siteWithAda(t)
    const { visitor: ada } = await turnOnApp(site, person)
    const created = await ada.form(codesPage, {})
    assert.deepEqual([created.status, created.headers.location], [303, codesPage])
    assert.match(
      created.cookies.find((each) => each.startsWith('new-recovery-codes=')) ?? '',
      /^new-recovery-codes=[\w.]{249}; Max-Age=60; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    const bob = await signIn(site, await signUp(site, 'Bob'))
    bob.cookies.set('new-recovery-codes', ada.cookies.get('new-recovery-codes') ?? assert.fail())
    assert.equal((await bob.page(codesPage)).headers.location, '/account/security')

    await ada.send('HEAD', codesPage, { accept: 'text/html' })
    assert.equal(codesIn(await ada.page(codesPage)).length, 10)
    assert.equal((await ada.page(codesPage)).headers.location, '/account/security')
    assert.equal((await ada.get(codesPage)).status, 404)
  })

  test('does not show replaced codes', async (t) => {
    const { site, person } = await siteWithAda(t)
    const { visitor: ada } = await turnOnApp(site, person)
    await ada.form(codesPage, {})
    await ada.json(codesPage, {})
    assert.equal((await ada.page(codesPage)).headers.location, '/account/security')
  })
})

describe('a sign-in with a recovery code', () => {
  test('shows the number of remaining codes on the page and in the mail', async (t) => {
    const { site, person } = await siteWithAda(t)
    const { recoveryCodes } = await turnOnApp(site, person)
    await sql(site, 'update users set email_verified_at = 1')
    const browser = site.visitor()
    await browser.form('/login', { username: person.email, password })
    await browser.form('/login/code', { code: recoveryCodes[0] ?? '' })
    assert.match(
      (await browser.page('/account')).text,
      /You have used a recovery code\. Codes left: 9\. You can replace them/,
    )
    const mails = await receiveMails(site)
    const mail = mails.find(({ subject }) => subject === 'A recovery code was used at koa-authenticators')
    assert.match(mail?.text ?? '', /^Recovery codes left: 9$/m)
    assert.match(mail?.html ?? '', /<dt[^>]*>Recovery codes left<\/dt> <dd[^>]*>9<\/dd>/)
  })
})
