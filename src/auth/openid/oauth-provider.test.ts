import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { fakeGitHub } from '../testing/fake-github.ts'
import { begin, read, serveProviders, signInWith, visit } from '../testing/sign-in-with.ts'
import { gitHub } from './oauth-provider.ts'

const user = { id: 583231, login: 'octocat', name: null, email: null }
const address = { email: 'octo@example.com', primary: true, verified: true }

async function serveGitHub(t: TestContext, emails: readonly object[] = [address]) {
  const github = await fakeGitHub(user, emails)
  t.after(() => github.close())
  const { browser } = await serveProviders(t, (callback) => [
    gitHub({ clientId: 'site', clientSecret: 's', origin: github.url, callbackUrl: callback('github') }),
  ])
  return { github, browser }
}

describe('gitHub', () => {
  it('identifies a person by the numeric id, with the primary address', async (t) => {
    const other = { email: 'old@example.com', primary: false, verified: true }
    const { github, browser } = await serveGitHub(t, [other, address])
    const { user: found, isFresh } = await signInWith(browser(), '/github')
    assert.equal(found?.issuer, github.url)
    assert.equal(found?.subject, '583231')
    assert.equal(found?.name, 'octocat')
    assert.deepEqual([found?.email, found?.isEmailVerified], ['octo@example.com', true])
    assert.equal(isFresh, false)
  })

  it('V6 says that an address is not verified', async (t) => {
    const { browser } = await serveGitHub(t, [{ ...address, verified: false }])
    assert.equal((await signInWith(browser(), '/github')).user?.isEmailVerified, false)
    const none = await serveGitHub(t, [])
    assert.equal((await signInWith(none.browser(), '/github')).user?.email, undefined)
  })

  it('V24 refuses a wrong code, which GitHub reports with status 200', async (t) => {
    const { browser } = await serveGitHub(t)
    const ada = browser()
    const path = (await visit(await begin(ada, '/github'))).replace(/code=[^&]+/, 'code=another')
    const { user: found, refused, code } = await read(await ada.get(path))
    assert.deepEqual([found, refused, code], [undefined, 'invalid', 'bad_verification_code'])
  })

  it('V30 responds with 503 while the API is broken', async (t) => {
    const { github, browser } = await serveGitHub(t)
    for (const reply of [{ status: 500 }, { body: '[]' }, { body: '{"id":{}}' }, { body: 'null' }]) {
      github.replies.set('/api/v3/user', reply)
      assert.equal((await signInWith(browser(), '/github')).status, 503, JSON.stringify(reply))
    }
  })
})
