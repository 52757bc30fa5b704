import type { TestContext } from 'node:test'
import Router from '@koa/router'
import Koa, { type Middleware } from 'koa'
import { type AuthContext, auth } from '../auth.ts'
import { type Served, serve } from './serve.ts'

/** Serves an application with `auth()`, and these middlewares and routers, until the test ends. */
export function serveAuth(
  t: TestContext,
  ...parts: readonly (Middleware<object, AuthContext> | Router<object, AuthContext>)[]
): Promise<Served> {
  const app = new Koa<object, AuthContext>()
  app.use(auth())
  for (const each of parts) app.use(each instanceof Router ? each.routes() : each)
  return serve(t, app)
}
