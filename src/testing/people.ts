import assert from 'node:assert/strict'
import { JWTKeys } from '#auth/jwt'
import { Admin } from '../users/admin.ts'
import { hashPassword } from '../users/password.ts'
import { password } from './password.ts'
import type { Site } from './site.ts'
import type { Visitor } from './visitor.ts'

export { password } from './password.ts'

/** A site as people see it, in this process or another. */
export type Visited = Pick<Site, 'visitor'>

/** Somebody with an account. */
export interface Person {
  readonly id: string
  readonly name: string
  readonly email: string
}

/** What the API takes to create an account. */
export function registration(name: string, changes: object = {}): Record<string, unknown> {
  const email = `${name.toLowerCase()}@example.com`
  return { name, email, password, confirmPassword: password, ...changes }
}

/** Creates an account by the API, which signs nobody in. */
export async function signUp(site: Visited, name = 'Ada', changes: object = {}): Promise<Person> {
  const answer = await site.visitor().json('/users', registration(name, changes))
  assert.equal(answer.status, 201, answer.text)
  const { id, email } = answer.record
  return { id: String(id), name, email: String(email) }
}

/** Somebody signed in by the form. */
export async function signIn(
  site: Visited,
  { email }: Pick<Person, 'email'>,
  { remember = false, visitor = site.visitor() } = {},
): Promise<Visitor> {
  const keep = remember ? { remember: 'on' } : undefined
  const answer = await visitor.form('/login', { username: email, password, ...keep })
  assert.equal(answer.status, 303, answer.text)
  return visitor
}

/** The header for a password. */
export function basic({ email }: Pick<Person, 'email'>, secret = password): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${email}:${secret}`).toString('base64')}` }
}

/** The header for a token of either kind. */
export function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` }
}

/** A new opaque token. */
export async function takeToken(site: Visited, person: Pick<Person, 'email'>): Promise<string> {
  const { record } = await site.visitor().post('/login', basic(person))
  return String(record.value)
}

/** A new signed token. */
export async function takeJWT(site: Visited, person: Pick<Person, 'email'>): Promise<string> {
  const { record } = await site.visitor().post('/login?as=jwt', basic(person))
  return String(record.token)
}

/** The keys of the site, with a clock of the test's. */
export function keysOf({ config }: Site, now = Date.now): JWTKeys {
  return new JWTKeys({ ...config.jwtKeys, issuer: 'koa-authenticators', audience: 'koa-authenticators', now })
}

/** Somebody who runs the site. */
export async function addAdmin({ orm }: Site, name = 'Grace'): Promise<Person> {
  const email = `${name.toLowerCase()}@example.com`
  const em = orm.em.fork()
  const { id } = em.create(Admin, {
    name,
    email,
    emailKey: email,
    passwordHash: await hashPassword(password),
  })
  await em.flush()
  return { id, name, email }
}
