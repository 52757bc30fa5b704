import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { startMailServer } from '../testing/mail-server.ts'
import { signIn, signUp } from '../testing/people.ts'
import { startSite } from '../testing/site.ts'

const origin = 'https://site.example'
const newPassword = 'eight wise canaries 1816'

/** A site with an SMTP server, and a function that sends all due mails. */
async function siteWithMailServer(t: TestContext) {
  const server = await startMailServer(t, { security: 'none' })
  const environment = {
    SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    MAIL_FROM: 'Ada’s site <no-reply@site.example>',
    PUBLIC_URL: origin,
    THROTTLE: 'on',
  }
  const site = await startSite(t, environment)
  const send = async () => {
    while (((await site.outbox?.sendDue(origin)) ?? 0) > 0);
  }
  const tokenOf = (text = '') => /\?token=([\w-]{43})$/m.exec(text)?.[1] ?? assert.fail()
  return { site, server, send, tokenOf }
}

describe('mail over SMTP', () => {
  test('Q2 R1 Q4 contains links to `PUBLIC_URL`, which verify the address and reset the password', async (t) => {
    const { site, server, send, tokenOf } = await siteWithMailServer(t)
    const ada = await signUp(site)
    const session = await signIn(site, ada)
    await send()
    const [verify = assert.fail()] = server.mails
    assert.deepEqual([verify.to, verify.from], [[ada.email], 'no-reply@site.example'])
    assert.equal(verify.headers['auto-submitted'], 'auto-generated')
    assert.ok(verify.text.includes(`\n${origin}/verify?token=`))
    assert.equal((await session.form('/verify', { token: tokenOf(verify.text) })).status, 303)

    await site.visitor().form('/forgot', { email: ada.email }, { host: 'evil.example' })
    await send()
    const [, reset = assert.fail()] = server.mails
    assert.ok(reset.text.includes(`\n${origin}/reset?token=`))
    const token = tokenOf(reset.text)
    site.secrets.add(token)
    const fields = { token, password: newPassword, confirmPassword: newPassword }
    assert.equal((await site.visitor().form('/reset', fields)).status, 303)
    assert.equal((await session.get('/me')).status, 401)
    await send()
    assert.match(server.mails[2]?.headers.subject ?? '', /Your password was reset at koa-authenticators$/)
    assert.equal(server.mails.length, 3)
  })
})
