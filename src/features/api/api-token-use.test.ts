import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Koa from 'koa'
import { auth } from '#auth'
import { databases } from '#auth/mikro-orm'
import { serve } from '../../auth/testing/serve.ts'
import { changes, sql } from '../../testing/database.ts'
import { bearer, signUp, takeToken } from '../../testing/people.ts'
import { startSite } from '../../testing/site.ts'
import { User } from '../../users/user.ts'
import { UserToken } from '../../users/user-token.ts'
import { tokenUse } from './api.ts'

const many = 20

describe('tokenUse', () => {
  test('writes once for many concurrent requests, and not for later ones within a minute', async (t) => {
    const site = await startSite(t)
    const headers = bearer(await takeToken(site, await signUp(site)))
    const allAreIn = Promise.withResolvers<void>()
    let found = 0
    const app = new Koa()
    app.use(databases(site.orm))
    app.use(auth())
    app.use(UserToken.authenticator())
    app.use(async (_ctx, next) => {
      found += 1
      if (found === many) allAreIn.resolve()
      await allAreIn.promise
      return next()
    })
    app.use(tokenUse(site.uses.tokens))
    app.use((ctx) => {
      ctx.body = ctx.auth.require(User).name
    })
    const { url } = await serve(t, app)
    const before = await changes(site)
    const answers = await Promise.all(Array.from({ length: many }, () => fetch(url, { headers })))
    assert.ok(answers.every(({ status }) => status === 200))
    assert.equal(await changes(site), before + 1)
    for (let i = 0; i < many; i += 1) assert.equal((await fetch(url, { headers })).status, 200)
    assert.equal(await changes(site), before + 1)
  })

  test('records the use of a token by a request that fails later', async (t) => {
    const site = await startSite(t)
    const headers = bearer(await takeToken(site, await signUp(site)))
    const app = new Koa()
    app.use(databases(site.orm))
    app.use(auth())
    app.use(UserToken.authenticator())
    app.use(tokenUse(site.uses.tokens))
    app.use((ctx) => {
      ctx.auth.require(User)
      throw new Error('on purpose')
    })
    const { url } = await serve(t, app)
    assert.equal((await fetch(url, { headers })).status, 500)
    await site.writeUses()
    const [row] = await sql(site, 'select last_used_at from user_tokens')
    assert.ok(Number(row?.last_used_at) > 0)
  })
})
