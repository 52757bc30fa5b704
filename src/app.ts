import { METHODS } from 'node:http'
import { join } from 'node:path'
import Router from '@koa/router'
import type { MikroORM } from '@mikro-orm/core'
import Koa from 'koa'
import { auth, refuseCrossSite } from '#auth'
import { JWTKeys } from '#auth/jwt'
import { databases } from '#auth/mikro-orm'
import type { Config } from './config/config.ts'
import { home } from './config/root.ts'
import { activity } from './features/activity/activity.ts'
import { audited } from './features/activity/audited.ts'
import { Audit } from './features/activity/trail.ts'
import { api } from './features/api/api.ts'
import { tokens } from './features/api-tokens/api-tokens.ts'
import { password } from './features/change-password/change-password.ts'
import { close } from './features/close-account/close-account.ts'
import { health, type Lifecycle } from './features/health/health.ts'
import { pages } from './features/home/home.ts'
import { Devices } from './features/known-devices/devices.ts'
import { KnownDevices } from './features/known-devices/known-devices.ts'
import { name } from './features/profile/name.ts'
import { account } from './features/profile/profile.ts'
import { sessions } from './features/sessions/session-cookie.ts'
import { SessionStore } from './features/sessions/session-store.ts'
import { ownSessions } from './features/sessions/sessions.ts'
import { credentialCheck } from './features/sign-in/guessing.ts'
import { isLogInByHeader, logIn } from './features/sign-in/sign-in.ts'
import { logOut } from './features/sign-in/sign-out.ts'
import { signUp } from './features/sign-up/sign-up.ts'
import { clearFraming } from './http/framing.ts'
import type { Logger } from './log/log.ts'
import { body } from './site/body.ts'
import { basicFromHereOnly, basicOverTlsOnly, client } from './site/client-address.ts'
import { errorBoundary } from './site/error-boundary.ts'
import type { SiteUses } from './site/last-uses.ts'
import { logErrors } from './site/log-errors.ts'
import { oneHost } from './site/one-host.ts'
import { pageState } from './site/page-state.ts'
import { requestLog } from './site/request-log.ts'
import { securityHeaders } from './site/security-headers.ts'
import type { Guessing, SiteContext } from './site/site-context.ts'
import { staticFiles } from './site/static-files.ts'
import { views } from './site/views.ts'
import { Throttle } from './throttle/throttle.ts'
import { setBcryptCost } from './users/password.ts'
import { User } from './users/user.ts'

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
