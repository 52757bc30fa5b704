import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { fakeOpenID } from '../../auth/testing/fake-openid.ts'
import { signIn, signUp } from '../../testing/people.ts'
import { answerOf, companyClient, goWith, signUpForm } from '../../testing/provider-site.ts'
import { startServer, temporaryFolder } from '../../testing/server-process.ts'
import type { Visitor } from '../../testing/visitor.ts'

/** Two processes of a site with one database, and its provider. */
async function twoServers(t: TestContext) {
  const company = await fakeOpenID()
  t.after(() => company.close())
  const variables = {
    DATA_DIR: await temporaryFolder(t),
    THROTTLE: 'off',
    PUBLIC_URL: 'http://site.example',
    ...companyClient(company.url),
  }
  const [one, two] = await Promise.all([startServer(t, variables), startServer(t, variables)])
  /** The same browser at the other process. */
  const atTwo = ({ cookies }: Visitor) => {
    const visitor = two.visitor()
    for (const [name, value] of cookies) visitor.cookies.set(name, value)
    return visitor
  }
  return { company, one, two, atTwo }
}

describe('several processes', () => {
  test('V21 V5 share flows: one process starts, and another one takes the answer and the form', async (t) => {
    const { company, one, atTwo } = await twoServers(t)
    const visitor = one.visitor()
    const answer = await answerOf(visitor)
    const there = atTwo(visitor)
    const both = await Promise.all([visitor.page(answer), there.page(answer)])
    assert.deepEqual(both.map(({ headers }) => headers.location).sort(), ['/login?expired', '/signup/with'])
    const isHere = both[0].headers.location === '/signup/with'
    const form = await signUpForm(isHere ? visitor : there)
    const forms = await Promise.all([visitor.form('/signup/with', form), there.form('/signup/with', form)])
    assert.equal(forms.filter(({ headers }) => headers.location === '/account').length, 1)

    company.forgery = { claims: { sub: 'person-2' } }
    const bob = await signIn(one, await signUp(one, 'Bob'))
    const link = await answerOf(bob, '/account/identities/with/company')
    const linked = await atTwo(bob).page(link)
    assert.equal(linked.headers.location, '/account/security')
    assert.equal((await goWith(atTwo(one.visitor()))).headers.location, '/account')
  })
})
