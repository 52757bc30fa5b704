import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { client, fakeOpenID } from '../auth/testing/fake-openid.ts'
import { visit } from '../auth/testing/sign-in-with.ts'
import { sql } from './database.ts'
import { signIn, signUp } from './people.ts'
import type { Answer } from './promises.ts'
import { type Site, startSite } from './site.ts'
import type { Visitor } from './visitor.ts'

/** A site with the identity provider `company`, which forges its answers as a test wants. */
export async function providerSite(t: TestContext, environment: Record<string, string> = {}) {
  const company = await fakeOpenID()
  t.after(() => company.close())
  const site = await startSite(t, { ...companyClient(company.url), ...environment }, { isPublic: true })
  return { site, company }
}

/** A site with the providers `company` and `other`. */
export async function twoProviderSite(t: TestContext) {
  const [company, other] = await Promise.all([fakeOpenID(), fakeOpenID()])
  t.after(() => Promise.all([company.close(), other.close()]))
  const environment = {
    ...companyClient(company.url),
    PROVIDERS: 'company,other',
    PROVIDER_OTHER_ISSUER: other.url,
    PROVIDER_OTHER_CLIENT_ID: client.clientId,
    PROVIDER_OTHER_CLIENT_SECRET: client.clientSecret,
  }
  return { site: await startSite(t, environment, { isPublic: true }), company, other }
}

/** The variables of the provider `company`. */
export function companyClient(issuer: string): Record<string, string> {
  return {
    PROVIDERS: 'company',
    PROVIDER_COMPANY_ISSUER: issuer,
    PROVIDER_COMPANY_LABEL: 'Company',
    PROVIDER_COMPANY_CLIENT_ID: client.clientId,
    PROVIDER_COMPANY_CLIENT_SECRET: client.clientSecret,
  }
}

/** The URL of the provider on the page of a started flow. */
export function urlOf({ status, text }: Answer): URL {
  assert.equal(status, 200, text)
  const [, address = ''] = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(text) ?? []
  return new URL(address.replaceAll('&amp;', '&'))
}

/** Starts a flow with a form, and returns the path and query with which the fake provider answers. */
export async function answerOf(
  visitor: Visitor,
  path = '/login/with/company',
  fields: Record<string, string> = {},
): Promise<string> {
  return visit(urlOf(await visitor.form(path, fields)))
}

/** Starts a flow, visits the fake provider, and opens the callback. */
export async function goWith(
  visitor: Visitor,
  path?: string,
  fields?: Record<string, string>,
): Promise<Answer> {
  return visitor.page(await answerOf(visitor, path, fields))
}

export const ada = { name: 'Ada', email: 'ada@example.com' }

/** The filled form of the sign-up that a visitor has begun. */
export async function signUpForm(visitor: Visitor, person = ada): Promise<Record<string, string>> {
  const { text } = await visitor.page('/signup/with')
  const [, signUp = assert.fail(text)] = /name="signUp" value="([^"]*)"/.exec(text) ?? []
  return { ...person, signUp }
}

/** Creates an account with the fake provider. Returns the visitor, who is signed in. */
export async function signUpWith(site: Pick<Site, 'visitor'>, person = ada): Promise<Visitor> {
  const visitor = site.visitor()
  assert.equal((await goWith(visitor)).headers.location, '/signup/with')
  const created = await visitor.form('/signup/with', await signUpForm(visitor, person))
  assert.equal(created.headers.location, '/account', created.text)
  return visitor
}

/** Creates an account with a password, and connects the fake provider. Returns the visitor, who is signed in. */
export async function signUpAndLink(site: Pick<Site, 'visitor'>, name = 'Ada') {
  const person = await signUp(site, name)
  const visitor = await signIn(site, person)
  const linked = await goWith(visitor, '/account/identities/with/company')
  assert.equal(linked.headers.location, '/account/security', linked.text)
  return { person, visitor }
}

/** The connected accounts, with the e-mail address of the user. */
export async function identities(site: Site): Promise<string[]> {
  const statement =
    'select u.email, i.subject from identities i join users u on u.id = i.user_id order by u.email, i.subject'
  return (await sql(site, statement)).map(({ email, subject }) => `${email} ${subject}`)
}

/** The page with the notice of the last request. */
export async function noticeOn(visitor: Visitor, path: string): Promise<string> {
  return (await visitor.page(path)).text
}
