import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../testing/database.ts'
import { transactionPauser } from '../../testing/pause-transaction.ts'
import { password, signIn, signUp, takeResetToken } from '../../testing/people.ts'
import {
  answerOf,
  goWith,
  identities,
  providerSite,
  signUpAndLink,
  signUpWith,
} from '../../testing/provider-site.ts'
import { receiveMails } from '../../testing/receive-mails.ts'
import { storePasskey } from '../../testing/store-passkey.ts'
import type { Visitor } from '../../testing/visitor.ts'

const link = '/account/identities/with/company'
const newPassword = 'eight wise canaries 1816'

/** The ids of the connected accounts of a visitor. */
async function idsOf(visitor: Visitor): Promise<string[]> {
  const { record } = await visitor.get('/account/security')
  return (record.identities as { id: string }[]).map(({ id }) => id)
}

describe('a connected account', () => {
  test('V10 is not connected if the password changes while the callback waits', async (t) => {
    const { site } = await providerSite(t)
    const person = await signUp(site)
    const [visitor, other] = [await signIn(site, person), await signIn(site, person)]
    const answer = await answerOf(visitor, link)
    const paused = transactionPauser(site)()
    const linking = visitor.page(answer)
    await paused.begun
    const typed = { currentPassword: password, password: newPassword, confirmPassword: newPassword }
    assert.equal((await other.form('/account/password', typed)).status, 303)
    paused.release()
    assert.equal((await linking).status, 409)
    assert.deepEqual(await identities(site), [])
  })

  test('V2 V9 belongs to one of two accounts that connect it at once', async (t) => {
    const { site } = await providerSite(t)
    const visitors = [await signIn(site, await signUp(site)), await signIn(site, await signUp(site, 'Bob'))]
    const answers = await Promise.all(visitors.map((visitor) => answerOf(visitor, link)))
    await Promise.all(visitors.map((visitor, i) => visitor.page(answers[i] ?? '')))
    assert.equal((await identities(site)).length, 1)
    const pages = await Promise.all(visitors.map((visitor) => visitor.page('/account/security')))
    const notices = pages.map(
      ({ text }) => /has been connected|is connected to another account/.exec(text)?.[0],
    )
    assert.deepEqual(notices.sort(), ['has been connected', 'is connected to another account'])
  })

  test('V13 sends a notice to a verified address when it is connected and disconnected', async (t) => {
    const { site } = await providerSite(t)
    const subjects = async () => (await receiveMails(site)).map(({ to, subject }) => `${to}: ${subject}`)
    const { visitor } = await signUpAndLink(site)
    const [before = ''] = await idsOf(visitor)
    assert.equal((await visitor.json(`/account/identities/${before}/remove`, {})).status, 204)
    await subjects()
    await sql(site, 'update users set email_verified_at = created_at')
    await goWith(visitor, link)
    const [id = ''] = await idsOf(visitor)
    assert.equal((await visitor.json(`/account/identities/${id}/remove`, {})).status, 204)
    assert.deepEqual(await subjects(), [
      'ada@example.com: An account of a provider was connected at koa-authenticators',
      'ada@example.com: An account of a provider was disconnected at koa-authenticators',
    ])
    assert.match((await visitor.page('/account/activity')).text, /Account of a provider disconnected/)
  })

  test('V12 or a passkey stays, if both are removed at once', async (t) => {
    const { site } = await providerSite(t)
    const visitor = await signUpWith(site)
    await storePasskey(site, { id: String((await visitor.get('/me')).record.id) })
    const { record } = await visitor.get('/account/security')
    const [passkey] = record.passkeys as { id: string }[]
    const [identity = ''] = await idsOf(visitor)
    const paths = [`/account/identities/${identity}/remove`, `/account/passkeys/${passkey?.id}/remove`]
    const removed = await Promise.all(paths.map((path) => visitor.json(path, {})))
    assert.deepEqual(removed.map(({ status }) => status).sort(), [204, 409])
  })

  test('V12 of a provider that the site no longer has is no way to sign in', async (t) => {
    const { site, company } = await providerSite(t)
    const visitor = await signUpWith(site)
    company.forgery = { claims: { sub: 'person-2' } }
    await goWith(visitor, link)
    await sql(site, "update identities set provider = 'former' where subject = 'person-2'")
    const [first = '', former = ''] = await idsOf(visitor)
    assert.equal((await visitor.json(`/account/identities/${first}/remove`, {})).status, 409)
    assert.equal((await visitor.json(`/account/identities/${former}/remove`, {})).status, 204)
  })

  test('V12 gets the new name of its provider at the next sign-in', async (t) => {
    const { site } = await providerSite(t)
    await signUpWith(site)
    await sql(site, "update identities set provider = 'former'")
    const visitor = site.visitor()
    assert.equal((await goWith(visitor)).headers.location, '/account')
    assert.match((await visitor.page('/confirm')).text, /action="\/confirm\/with\/company"/)
  })

  test('V26 stays after a reset of an account whose address was verified before', async (t) => {
    const { site } = await providerSite(t)
    const { person } = await signUpAndLink(site)
    await sql(site, 'update users set email_verified_at = created_at')
    const token = await takeResetToken(site, person)
    const { text } = await site.visitor().page(`/reset?token=${token}`)
    assert.match(text, /Company \(ada@example.com\)/)
    assert.doesNotMatch(text, /also removes/)
    const typed = { token, password: newPassword, confirmPassword: newPassword }
    assert.equal((await site.visitor().json('/reset', typed)).status, 204)
    assert.deepEqual(await identities(site), ['ada@example.com person-1'])
    assert.equal((await goWith(site.visitor())).headers.location, '/account')
  })
})
