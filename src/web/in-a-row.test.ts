import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Koa from 'koa'
import type { AuthContext, AuthMiddleware } from '#auth'
import { serve } from '../auth/testing/serve.ts'
import { inARow } from './in-a-row.ts'

describe('inARow', () => {
  test('is what its middlewares are one after the other, those that wait too, on the way in and out', async (t) => {
    const steps: string[] = []
    const named =
      (name: string): AuthMiddleware =>
      async (_ctx, next) => {
        steps.push(name)
        await next()
        steps.push(`after ${name}`)
      }
    const app = new Koa<object, AuthContext>()
    app.use(inARow(named('a'), (_ctx, next) => next(), named('b')))
    app.use((ctx) => {
      steps.push('handler')
      ctx.body = 'ok'
    })
    const { url } = await serve(t, app)
    assert.equal(await (await fetch(url)).text(), 'ok')
    assert.deepEqual(steps, ['a', 'b', 'handler', 'after b', 'after a'])
  })

  test('ends where one of them answers, and passes on what one throws', async (t) => {
    const app = new Koa<object, AuthContext>()
    app.silent = true
    app.use(
      inARow((ctx, next) => {
        if (ctx.path === '/end') ctx.body = 'ended'
        else if (ctx.path === '/throw') ctx.throw(409)
        else return next()
      }),
    )
    app.use((ctx) => {
      ctx.body = 'handler'
    })
    const { url } = await serve(t, app)
    const ask = async (path: string) => {
      const answer = await fetch(`${url}${path}`)
      return [answer.status, await answer.text()]
    }
    assert.deepEqual(await ask('/end'), [200, 'ended'])
    assert.deepEqual(await ask('/throw'), [409, 'Conflict'])
    assert.deepEqual(await ask('/on'), [200, 'handler'])
  })
})
