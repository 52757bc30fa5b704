import { METHODS } from 'node:http'
import { join } from 'node:path'
import Router from '@koa/router'
import type { MikroORM } from '@mikro-orm/core'
import Koa from 'koa'
import { auth, refuseCrossSite } from '#auth'
import { JWTKeys } from '#auth/jwt'
import { databases } from '#auth/mikro-orm'
import { Audit } from './audit/audit.ts'
import type { Config } from './config.ts'
import { home } from './home.ts'
import { clearFraming } from './http/framing.ts'
import type { Logger } from './log.ts'
import { Throttle } from './throttle/throttle.ts'
import { setBcryptCost } from './users/password.ts'
import { User } from './users/user.ts'
import { account } from './web/account/account.ts'
import { activity } from './web/account/activity.ts'
import { close } from './web/account/close.ts'
import { name } from './web/account/name.ts'
import { password } from './web/account/password.ts'
import { ownSessions } from './web/account/sessions.ts'
import { tokens } from './web/account/tokens.ts'
import { api } from './web/api.ts'
import { audited } from './web/audited.ts'
import { body } from './web/body.ts'
import { basicFromHereOnly, basicOverTlsOnly, client } from './web/client.ts'
import { Devices } from './web/devices.ts'
import { errorBoundary } from './web/error-boundary.ts'
import { credentialCheck } from './web/guessing.ts'
import { health, type Lifecycle } from './web/health.ts'
import { KnownDevices } from './web/known-devices.ts'
import type { SiteUses } from './web/last-uses.ts'
import { logErrors } from './web/log-errors.ts'
import { isLogInByHeader, logIn } from './web/log-in.ts'
import { logOut } from './web/log-out.ts'
import { oneHost } from './web/one-host.ts'
import { pageState } from './web/page-state.ts'
import { pages } from './web/pages.ts'
import { requestLog } from './web/request-log.ts'
import { securityHeaders } from './web/security-headers.ts'
import { SessionStore } from './web/session-store.ts'
import { sessions } from './web/sessions.ts'
import { signUp } from './web/sign-up.ts'
import type { Guessing, SiteContext } from './web/site-context.ts'
import { staticFiles } from './web/static-files.ts'
import { views } from './web/views.ts'

/** What the application stands on. `uses` are closed, and `lifecycle` told, by whoever stops it. */
export interface Foundations {
  readonly orm: MikroORM
  readonly config: Config
  readonly log: Logger
  readonly uses: SiteUses
  readonly lifecycle: Lifecycle
}

/** The whole application, top to bottom: the first middleware sees the request first and the response last. */
export async function createApp({ orm, config, log, uses, lifecycle }: Foundations): Promise<Koa> {
  setBcryptCost(config.bcryptCost)
  const isTls = config.secureCookies
  const audit = new Audit(orm, log)
  const keys = new JWTKeys({
    ...config.jwtKeys,
    issuer: 'koa-authenticators',
    audience: 'koa-authenticators',
  })
  const app = new Koa()
  logErrors(app, log)
  app.context.credentialCheck = credentialCheck
  app.context.guessing = config.throttle ? guessingLimits(orm, isTls) : undefined

  app.use(client(config.trustProxy))
  app.use(requestLog(log))
  app.use(audited(audit))
  app.use(securityHeaders)
  app.use(views())
  app.use(errorBoundary())
  app.use(clearFraming)
  app.use(oneHost)
  app.use(health(orm, lifecycle))
  app.use(await staticFiles(join(home, 'public')))
  app.use(refuseCrossSite(config.publicUrl?.origin))
  app.use(basicFromHereOnly)
  if (config.production) app.use(basicOverTlsOnly)
  // Before anybody is looked up: who is asking is then found out after the last byte of what they ask.
  app.use(body({ unless: isLogInByHeader }))
  app.use(databases(orm))
  app.use(auth())
  app.use(sessions(app, new SessionStore(orm, uses.sessions), { isTls }))
  app.use(User.sessionAuthenticator({ remember: 'signed-in', key: 'user' }))
  app.use(pageState(config.publicUrl?.origin))

  // Strict: a path in another spelling is another path, so that the log and the throttle count the same paths.
  // All methods: a path that a route has answers 405, and not 501, to any other.
  const router = new Router<object, SiteContext>({ strict: true, sensitive: true, methods: METHODS })
  api(router, { keys, uses })
  pages(router)
  signUp(router)
  logIn(router, keys)
  logOut(router)
  account(router)
  name(router)
  ownSessions(router, uses)
  tokens(router, { uses, isTls })
  password(router)
  close(router)
  activity(router, audit)
  app.use(router.routes())
  app.use(router.allowedMethods())
  return app
}

function guessingLimits(orm: MikroORM, isTls: boolean): Guessing {
  return { throttle: new Throttle(orm), devices: new KnownDevices(new Devices(orm), { isTls }) }
}
