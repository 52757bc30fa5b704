import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hotp, stepAt } from '../../account/second-factor/totp.ts'
import { sql } from '../../testing/database.ts'
import { dumpAll } from '../../testing/dump.ts'
import { password } from '../../testing/people.ts'
import type { Answer } from '../../testing/promises.ts'
import { fromBase32 } from '../../testing/second-factor.ts'
import { siteWithAda } from '../../testing/site-with-ada.ts'

describe('the secrets of a second factor', () => {
  test('T9 O2 are in no log line and no later response, and are encrypted or hashed in the database', async (t) => {
    const { site, person, ada } = await siteWithAda(t, { LOG_LEVEL: 'trace' })

    // The page shows the key until the set-up is finished.
    await ada.form('/account/security/totp', {})
    const { text: setUp } = await ada.page('/account/security/totp')
    const [, secret = ''] = / data-copy="([A-Z2-7]{32})"/.exec(setUp) ?? []
    const grouped = secret.replace(/.{4}(?=.)/g, '$& ')
    const key = fromBase32(secret)
    const again = await ada.form('/account/security/totp/confirm', { code: '000000' })
    assert.ok(again.text.includes(secret))
    const step = stepAt(Date.now())
    const codes = [hotp(key, step - 1), hotp(key, step), hotp(key, step + 1)]
    await ada.form('/account/security/totp/confirm', { code: codes[0] ?? '' })
    const { text: sheet } = await ada.page('/account/security/recovery-codes')
    await ada.page('/account/security')
    const recovery = sheet.match(/(?:[A-Z2-7]{4}-){5}[A-Z2-7]{4}/g) ?? []
    assert.equal(new Set(recovery).size, 10)
    const forms = [secret, grouped, key.toString('hex'), key.toString('base64'), key.toString('base64url')]
    // Each later response and each line of the log is searched for these.
    for (const each of [...forms, ...recovery, ...recovery.map((code) => code.replaceAll('-', ''))])
      site.secrets.add(each)

    const answers: Answer[] = []
    const keep = async (...sent: Promise<Answer>[]) => answers.push(...(await Promise.all(sent)))
    const credentials = { username: person.email, password }
    const enter = async (code: string) => {
      const browser = site.visitor()
      await keep(browser.form('/login', credentials))
      await keep(browser.form('/login/code', { code }), browser.page(`/login/code?code=${code}`))
      await keep(site.visitor().json('/login', { ...credentials, code }))
      await keep(ada.json('/confirm', { code }), ada.form('/confirm', { code, next: '/account/security' }))
      const json = { 'content-type': 'application/json' }
      for (const body of [`{"code":"${code}"`, `["${code}"]`, `{"code":"${code}","code":"${code}"}`])
        await keep(browser.send('POST', '/login/code', json, body))
    }
    const used = [codes[1] ?? '', recovery[0] ?? '', recovery[1] ?? '']
    for (const table of ['totp_factors', 'recovery_codes', 'pending_sign_ins']) {
      await sql(site, `alter table ${table} rename to lost`)
      for (const code of used) await enter(code)
      await sql(site, `alter table lost rename to ${table}`)
    }
    for (const code of [...used, '000000', 'A'.repeat(24)]) await enter(code)
    for (const path of ['/account', '/account/security', '/account/activity', '/account/sessions'])
      await keep(ada.page(path), ada.get(path))
    for (const status of [200, 303, 400, 401, 503])
      assert.ok(
        answers.some((each) => each.status === status),
        `a response with ${status}`,
      )

    const stored = JSON.stringify([await dumpAll(site), await sql(site, 'select * from events')])
    assert.match(stored, /"secret":"development\.[\w-]{64}"/)
    for (const each of site.secrets) assert.ok(!stored.includes(each), each)
    const shown = answers.map(({ text, headers }) => text + JSON.stringify(headers))
    for (const code of codes)
      for (const text of [...shown, ...site.log, stored])
        assert.doesNotMatch(text, RegExp(`(?<![\\d.])${code}(?!\\d)`), 'a code')
  })
})
