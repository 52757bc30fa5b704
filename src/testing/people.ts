import assert from 'node:assert/strict'
import { JWTKeys } from '#auth/jwt'
import { createResetLink } from '../features/reset-password/reset-link.ts'
import { Admin } from '../users/admin.ts'
import { hashPassword } from '../users/password.ts'
import { User } from '../users/user.ts'
import { password } from './password.ts'
import type { Site } from './site.ts'
import type { Visitor } from './visitor.ts'

export { password } from './password.ts'

/** A site in this process or another one. */
export type AnySite = Pick<Site, 'visitor'>

export interface Person {
  readonly id: string
  readonly name: string
  readonly email: string
}

/** The body of `POST /users`. */
export function registration(name: string, changes: object = {}): Record<string, unknown> {
  const email = `${name.toLowerCase()}@example.com`
  return { name, email, password, confirmPassword: password, ...changes }
}

/** Creates an account by the API, without signing in. */
export async function signUp(site: AnySite, name = 'Ada', changes: object = {}): Promise<Person> {
  const answer = await site.visitor().json('/users', registration(name, changes))
  assert.equal(answer.status, 201, answer.text)
  const { id, email } = answer.record
  return { id: String(id), name, email: String(email) }
}

/** Signs in by the form, and returns the visitor with the session. */
export async function signIn(
  site: AnySite,
  { email }: Pick<Person, 'email'>,
  { remember = false, visitor = site.visitor() } = {},
): Promise<Visitor> {
  const keep = remember ? { remember: 'on' } : undefined
  const answer = await visitor.form('/login', { username: email, password, ...keep })
  assert.equal(answer.status, 303, answer.text)
  return visitor
}

export function basic({ email }: Pick<Person, 'email'>, secret = password): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${email}:${secret}`).toString('base64')}` }
}

/** The header for a token or a JWT. */
export function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` }
}

export async function takeToken(site: AnySite, person: Pick<Person, 'email'>): Promise<string> {
  const { record } = await site.visitor().post('/login', basic(person))
  return String(record.value)
}

export async function takeJWT(site: AnySite, person: Pick<Person, 'email'>): Promise<string> {
  const { record } = await site.visitor().post('/login?as=jwt', basic(person))
  return String(record.token)
}

/** The JWT keys of a site, with the clock of a test. */
export function keysOf({ config }: Site, now = Date.now): JWTKeys {
  return new JWTKeys({ ...config.jwtKeys, issuer: config.jwtIssuer, audience: config.jwtIssuer, now })
}

/** Creates a reset link as for a mail, and returns its token. */
export async function takeResetToken(
  { orm, url, secrets }: Site,
  { id }: Pick<Person, 'id'>,
): Promise<string> {
  const em = orm.em.fork()
  const link = await createResetLink(em, { account: await em.findOneOrFail(User, id), origin: url })
  const token = new URL(link ?? '').searchParams.get('token') ?? ''
  secrets.add(token)
  return token
}

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
