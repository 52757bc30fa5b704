import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import Router from '@koa/router'
import Koa from 'koa'
import { auth } from '#auth'
import { databases } from '#auth/mikro-orm'
import { serve } from '../auth/testing/serve.ts'
import { errorBoundary } from '../site/error-boundary.ts'
import type { SiteContext } from '../site/site-context.ts'
import { sql } from '../testing/database.ts'
import { basic, signUp } from '../testing/people.ts'
import { startSite } from '../testing/site.ts'
import { owner } from './owner.ts'
import { verifiedOnly } from './verified-only.ts'

/** Serves an application with one guarded route, on the database of a test site. `post` requests the route. */
async function start(t: TestContext) {
  const site = await startSite(t)
  const ada = await signUp(site)
  const app = new Koa()
  const router = new Router<object, SiteContext>()
  router.post('/invitations', ...owner(site.services), verifiedOnly, (ctx) => {
    ctx.status = 204
  })
  app.use(errorBoundary).use(databases(site.orm)).use(auth()).use(router.routes())
  const { url } = await serve(t, app)
  const post = (headers = {}) => fetch(`${url}/invitations`, { method: 'POST', headers })
  return { site, ada, post }
}

describe('verifiedOnly', () => {
  test('R1 accepts a user with a verified address, and rejects other users with 403', async (t) => {
    const { site, ada, post } = await start(t)
    assert.equal((await post()).status, 401)
    const refused = await post(basic(ada))
    assert.equal(refused.status, 403)
    assert.match(await refused.text(), /"code":"email_not_verified"/)
    await sql(site, 'update users set email_verified_at = 1')
    assert.equal((await post(basic(ada))).status, 204)
  })
})
