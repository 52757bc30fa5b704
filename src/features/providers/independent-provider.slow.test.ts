import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { registered, startOIDC } from '../../auth/testing/oidc-server.ts'
import { ProviderVisitor } from '../../auth/testing/provider-visitor.ts'
import { count, sql } from '../../testing/database.ts'
import type { Answer } from '../../testing/promises.ts'
import { companyClient, identities, signUpForm, urlOf } from '../../testing/provider-site.ts'
import { startSite } from '../../testing/site.ts'
import type { Visitor } from '../../testing/visitor.ts'

const origin = 'http://site.example'

/** A site whose provider is node-oidc-provider. */
async function siteWithOIDC(t: TestContext, environment: Record<string, string> = {}) {
  const provider = await startOIDC(`${origin}/login/with/company/callback`)
  t.after(() => provider.close())
  return startSite(t, {
    ...companyClient(provider.issuer),
    PROVIDER_COMPANY_CLIENT_SECRET: registered.clientSecret,
    PUBLIC_URL: origin,
    ...environment,
  })
}

interface Journey {
  readonly visitor: Visitor
  readonly person: ProviderVisitor
  readonly path?: string
  readonly fields?: Record<string, string>
  readonly cancel?: boolean
}

/** Starts a flow with a form, goes through the pages of the provider, and opens the callback. */
async function goTo({
  visitor,
  person,
  path = '/login/with/company',
  fields = {},
  cancel,
}: Journey): Promise<Answer> {
  const url = await person.open(urlOf(await visitor.form(path, fields)), { cancel })
  assert.equal(url.origin, origin)
  return visitor.page(url.pathname + url.search)
}

describe('a site with node-oidc-provider', () => {
  test('V1 V5 V6 V38 signs a person up and in, and signs out of this site only', async (t) => {
    const site = await siteWithOIDC(t)
    const [visitor, person] = [site.visitor(), new ProviderVisitor('ada')]
    assert.equal((await goTo({ visitor, person })).headers.location, '/signup/with')
    const form = await visitor.page('/signup/with')
    assert.match(form.text, /name="email"[^>]*value="ada@example\.com"/)
    assert.equal((await visitor.form('/signup/with', await signUpForm(visitor))).status, 303)
    assert.deepEqual(await identities(site), ['ada@example.com ada'])
    assert.equal((await sql(site, 'select id from users where email_verified_at is not null')).length, 1)

    const other = site.visitor()
    const again = { visitor: other, person, fields: { next: '/account/sessions' } }
    assert.equal((await goTo(again)).headers.location, '/account/sessions')
    const { headers } = await visitor.form('/logout', {})
    assert.equal(headers.location, '/')
    assert.equal((await visitor.get('/me')).status, 401)
    assert.equal((await other.get('/me')).status, 200)
    // The person is still signed in at the provider, which asks nothing.
    assert.equal((await goTo({ visitor, person })).headers.location, '/account')
    assert.equal(await count(site, 'users'), 1)
  })

  test('V30 says in the log that the provider rejects the client', async (t) => {
    const site = await siteWithOIDC(t, { PROVIDER_COMPANY_CLIENT_SECRET: 'wrong' })
    const refused = await goTo({ visitor: site.visitor(), person: new ProviderVisitor('ada') })
    assert.equal(refused.status, 503)
    assert.match(
      site.log.join(''),
      /The identity provider company responded with the error .{0,2}"invalid_client/,
    )
  })

  test('V21 V24 signs in nobody who cancels, or with a code that was used or stolen', async (t) => {
    const site = await siteWithOIDC(t)
    const [ada, eve] = [site.visitor(), site.visitor()]
    const cancelled = await goTo({ visitor: eve, person: new ProviderVisitor('eve'), cancel: true })
    assert.equal(cancelled.headers.location, '/login?cancelled')
    const person = new ProviderVisitor('ada')
    const start = async (visitor: Visitor) => urlOf(await visitor.form('/login/with/company', {}))
    const answer = await person.open(await start(ada))
    const forged = await new ProviderVisitor('eve').open(await start(eve))
    forged.searchParams.set('code', answer.searchParams.get('code') ?? '')
    assert.equal((await eve.page(forged.pathname + forged.search)).headers.location, '/login?expired')
    const path = answer.pathname + answer.search
    assert.equal((await ada.page(path)).headers.location, '/signup/with')
    assert.equal((await ada.page(path)).headers.location, '/login?expired')
    const replayed = await person.open(await start(ada))
    replayed.searchParams.set('code', answer.searchParams.get('code') ?? '')
    assert.equal((await ada.page(replayed.pathname + replayed.search)).headers.location, '/login?expired')
    assert.equal(await count(site, 'users'), 0)
  })
})
