import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { signIn, signUp } from './people.ts'
import type { Answer } from './promises.ts'
import { startSite } from './site.ts'
import { type Overrides, SoftwareAuthenticator } from './software-authenticator.ts'
import type { Visitor } from './visitor.ts'

/** The origin of the site. Tests connect to another address, but passkeys depend only on this origin. */
const passkeyOrigin = 'http://localhost:3000'

export function newAuthenticator(): SoftwareAuthenticator {
  return new SoftwareAuthenticator(passkeyOrigin)
}

/** A site with passkeys, and a user who is signed in. */
export async function passkeySite(t: TestContext, environment: Record<string, string> = {}) {
  const site = await startSite(t, { PUBLIC_URL: passkeyOrigin, ...environment })
  const ada = await signUp(site)
  const visitor = await signIn(site, ada)
  return { site, ada, visitor }
}

/** The options of the passkey button on a page, as its script reads them. `undefined` without a button. */
export function optionsOf({ text }: Pick<Answer, 'text'>) {
  const [, json] = / data-options="([^"]*)"/.exec(text) ?? []
  if (json === undefined) return undefined
  return JSON.parse(json.replaceAll('&quot;', '"').replaceAll('&amp;', '&'))
}

/** Loads a page and returns the options of its passkey button. */
export async function loadOptions(visitor: Visitor, path: string) {
  const options = optionsOf(await visitor.page(path))
  assert.ok(options, `${path} has options`)
  return options
}

/** Adds a passkey with the form on the security page. */
export async function addPasskey(visitor: Visitor, name = 'Laptop', from = newAuthenticator()) {
  const credential = from.create(await loadOptions(visitor, '/account/security'))
  const { status, headers, text } = await visitor.form('/account/passkeys', { credential, name })
  assert.deepEqual([status, headers.location], [303, '/account/security'], text)
  return from
}

/** Signs in with a passkey and the form on the sign-in page. */
export async function signInWithPasskey(
  visitor: Visitor,
  from: SoftwareAuthenticator,
  { overrides = {}, fields = {} }: { overrides?: Overrides; fields?: Record<string, string> } = {},
): Promise<Answer> {
  const credential = from.get(await loadOptions(visitor, '/login'), overrides)
  return visitor.form('/login/passkey', { credential, ...fields })
}

/** The passkeys of a user, as the API shows them. */
export async function passkeysOf(visitor: Visitor) {
  const { record } = await visitor.get('/account/security')
  return record.passkeys as { id: string; name: string; createdAt: string; lastUsedAt: string | null }[]
}
