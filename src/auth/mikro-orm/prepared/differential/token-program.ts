import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { defineEntity, type MikroORM, p } from '@mikro-orm/core'
import Koa from 'koa'
import { type AuthContext, type AuthMiddleware, auth } from '../../../auth.ts'
import type { Class } from '../../../checks.ts'
import { guard } from '../../../guard.ts'
import { serve } from '../../../testing/serve.ts'
import { databases } from '../../databases.ts'
import { ModelTokenAuthenticatable } from '../../token-model.ts'
import { prepared } from '../index.ts'
import { type Model, model } from './people.ts'

type Values = Readonly<Record<string, unknown>>

/** A user class with a key, a name and these columns. */
export function userClass(properties: Values = {}, options: object = {}): Model {
  return model('User', { id: p.integer().primary(), name: p.string(), ...properties }, options)
}

interface TokenClass extends Class {
  authenticator(): AuthMiddleware
}

/** A token class with this relation to its user and these columns. */
export function tokenClass(
  user: () => unknown,
  properties: Values = {},
  isValid: (token: object) => boolean = () => true,
  options: object = {},
): Model & TokenClass {
  const Schema = defineEntity({
    name: 'UserToken',
    properties: { id: p.integer().primary(), value: p.string().unique(), user, ...properties },
    ...options,
  })
  class UserToken extends ModelTokenAuthenticatable(Schema.class, { value: 'value', user: 'user' as never }) {
    get isValid(): boolean {
      return isValid(this)
    }
  }
  Schema.setClass(UserToken as never)
  return UserToken as unknown as Model & TokenClass
}

interface Program {
  /** Runs before the authenticator. */
  readonly before?: Koa.Middleware
  /** Returns the body for an authenticated user, by default the user. */
  answer?(ctx: AuthContext): unknown
}

/** Serves an application with bearer tokens. Returns a function that sends a request with a token. */
export async function serveTokens(
  t: TestContext,
  orm: MikroORM,
  [User, UserToken]: readonly [Class, TokenClass],
  { before, answer = (ctx) => ctx.auth.require(User) }: Program = {},
): Promise<(value?: string) => Promise<{ status: number; body: unknown }>> {
  const app = new Koa<object, AuthContext>()
  app.use(databases(orm, { lookUps: prepared() }))
  app.use(auth())
  if (before) app.use(before)
  app.use(UserToken.authenticator())
  app.use(guard(User))
  app.use(async (ctx) => {
    ctx.body = (await answer(ctx)) ?? {}
  })
  const { url } = await serve(t, app)
  return async (value = 'value') => {
    const response = await fetch(url, { headers: { authorization: `Bearer ${value}` } })
    const text = await response.text()
    return { status: response.status, body: response.ok ? JSON.parse(text) : text }
  }
}

/** Sends a token twice, because the first request prepares the look-up. */
export async function answers(get: Awaited<ReturnType<typeof serveTokens>>, status: number): Promise<void> {
  for (let i = 0; i < 2; i += 1) assert.equal((await get()).status, status)
}
