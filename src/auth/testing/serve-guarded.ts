import type { TestContext } from 'node:test'
import type { MikroORM } from '@mikro-orm/core'
import Koa from 'koa'
import { type AuthContext, type AuthMiddleware, auth } from '../auth.ts'
import type { Class } from '../checks.ts'
import { guard } from '../guard.ts'
import { databases } from '../mikro-orm/databases.ts'
import { serve } from './serve.ts'

/** Serves an application with the authenticator of a database model. The application responds with the authenticated user. */
export async function serveGuarded(
  t: TestContext,
  orm: MikroORM,
  authenticator: AuthMiddleware,
  type: Class,
) {
  const app = new Koa<object, AuthContext>()
  app.use(databases(orm))
  app.use(auth())
  app.use(authenticator)
  app.use(guard(type))
  app.use((ctx) => {
    ctx.body = ctx.auth.require(type)
  })
  return serve(t, app)
}
