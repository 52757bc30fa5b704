import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { basic, signIn, signUp, takeToken } from '../../testing/people.ts'
import { startSite } from '../../testing/site.ts'
import { siteWithAda } from '../../testing/site-with-ada.ts'

describe('POST /account/data', () => {
  it('returns the data of the account as a file, without secrets', async (t) => {
    const site = await startSite(t)
    const [ada, bob] = [await signUp(site), await signUp(site, 'Bob')]
    const token = await takeToken(site, ada)
    const browser = await signIn(site, ada)
    await signIn(site, bob)
    const { status, headers, text } = await browser.form('/account/data', {})
    assert.deepEqual([status, headers['content-type']], [200, 'application/json; charset=utf-8'])
    assert.equal(headers['content-disposition'], 'attachment; filename="my-data.json"')
    const { profile, sessions, tokens, passkeys, connectedAccounts, activity } = JSON.parse(text)
    assert.deepEqual([profile.id, profile.name, profile.email], [ada.id, 'Ada', ada.email])
    assert.deepEqual([sessions.length, tokens.length, passkeys, connectedAccounts], [1, 1, [], []])
    const events = activity.map(({ event }: { event: string }) => event)
    assert.deepEqual(events, ['signed in', 'token issued', 'signed up'])
    for (const secret of [token, bob.email, 'credentialId', 'publicKey'])
      assert.ok(!text.includes(secret), secret)
  })

  it('is recorded in the activity', async (t) => {
    const { ada: browser } = await siteWithAda(t)
    await browser.form('/account/data', {})
    assert.match((await browser.page('/account/activity')).text, />Data downloaded</)
  })

  it('needs a session or the password, and counts as a change', async (t) => {
    const site = await startSite(t, { THROTTLE: 'on' })
    const ada = await signUp(site)
    assert.equal((await site.visitor().json('/account/data', {})).status, 401)
    assert.equal((await site.visitor().json('/account/data', {}, basic(ada))).status, 200)
    const browser = await signIn(site, ada)
    let last = 200
    for (let i = 0; i < 201 && last === 200; i += 1) last = (await browser.json('/account/data', {})).status
    assert.equal(last, 429)
  })
})
