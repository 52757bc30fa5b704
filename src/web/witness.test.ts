import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import Koa from 'koa'
import { type AuthContext, auth } from '#auth'
import { serve } from '../auth/testing/serve.ts'
import { Refusal } from '../refusal.ts'
import { credentialCheck, mountCredentialCheck } from '../users/credential-check.ts'
import { User } from '../users/user.ts'
import { accountOf, authenticationEvent } from './authentication-event.ts'
import { recorded, witness, witnessed } from './witness.ts'

const ada = Object.assign(Object.create(User.prototype) as User, { id: 'ada' })

const check = witnessed((_ctx, _who, evaluate) => evaluate())

/** What is known of a request to a route that stands for a changed password, behind somebody who is signed in. */
async function testimony(t: TestContext, handler: (ctx: AuthContext) => unknown) {
  const told: unknown[] = []
  const app = new Koa()
  app.silent = true
  app.use(async (ctx, next) => {
    await next().catch(() => {})
    const event = authenticationEvent(ctx)
    told.push(event, event && accountOf(ctx, event))
  })
  app.use(auth())
  app.use((ctx, next) => {
    mountCredentialCheck(ctx, check)
    return next()
  })
  app.use(witness)
  app.use((ctx, next) => {
    ctx.auth.login(ada)
    return next()
  })
  app.use(recorded('password changed'))
  app.use(handler as never)
  await fetch((await serve(t, app)).url)
  return told
}

describe('recorded', () => {
  test('tells the event of an answer that is a success, and whose it is', async (t) => {
    const told = await testimony(t, (ctx) => {
      ctx.status = 204
    })
    assert.deepEqual(told, ['password changed', { kind: 'user', id: 'ada' }])
  })

  test('knows who it was when they are nobody any more', async (t) => {
    const told = await testimony(t, (ctx) => {
      ctx.auth.logout(User)
      ctx.status = 204
    })
    assert.deepEqual(told, ['password changed', { kind: 'user', id: 'ada' }])
  })

  test('tells nothing of a refusal, answered or thrown', async (t) => {
    const answered = await testimony(t, (ctx) => {
      ctx.status = 422
    })
    const thrown = await testimony(t, () => {
      throw new Refusal(409, 'Somebody was faster.')
    })
    assert.deepEqual([answered, thrown], [Array(2).fill(undefined), Array(2).fill(undefined)])
  })

  test('tells of a wrong password that the handler has checked, and at whose account', async (t) => {
    const told = await testimony(t, async (ctx) => {
      const who = { kind: 'user', username: 'ada@example.com' } as const
      await credentialCheck(ctx, who, async () => undefined)
      ctx.status = 400
    })
    assert.deepEqual(told, [
      'credentials refused',
      { kind: 'user', username: 'ada@example.com', isRight: false },
    ])
  })

  test('names the missing line', async () => {
    await assert.rejects(
      async () => recorded('name changed')({} as AuthContext, async () => {}),
      /app\.use\(witness\)/,
    )
  })
})
