import { METHODS } from 'node:http'
import { join } from 'node:path'
import Router from '@koa/router'
import type { MikroORM } from '@mikro-orm/core'
import Koa from 'koa'
import { auth, refuseCrossSite } from '#auth'
import { JWTKeys } from '#auth/jwt'
import { databases } from '#auth/mikro-orm'
import type { Config } from './config/config.ts'
import { root } from './config/root.ts'
import { activity } from './features/activity/activity.ts'
import { AuditTrail } from './features/activity/audit-trail.ts'
import { api } from './features/api/api.ts'
import { tokens } from './features/api-tokens/api-tokens.ts'
import { password } from './features/change-password/change-password.ts'
import { close } from './features/close-account/close-account.ts'
import { health, type Lifecycle } from './features/health/health.ts'
import { home } from './features/home/home.ts'
import { Devices } from './features/known-devices/devices.ts'
import { KnownDevices } from './features/known-devices/known-devices.ts'
import type { SiteUses } from './features/last-uses.ts'
import { changeName } from './features/profile/name.ts'
import { profile } from './features/profile/profile.ts'
import { sessions } from './features/sessions/session-cookie.ts'
import { SessionStore } from './features/sessions/session-store.ts'
import { ownSessions } from './features/sessions/sessions.ts'
import { credentialCheck } from './features/sign-in/guessing.ts'
import { isSignInByHeader, signIn } from './features/sign-in/sign-in.ts'
import { signOut } from './features/sign-in/sign-out.ts'
import { signUp } from './features/sign-up/sign-up.ts'
import { refuseAmbiguousFraming } from './http/framing.ts'
import type { Logger } from './log/log.ts'
import { audited } from './site/audit.ts'
import { body } from './site/body.ts'
import { basicFromHereOnly, basicOverTlsOnly, client } from './site/client-address.ts'
import { errorBoundary } from './site/error-boundary.ts'
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

/** The parts that the application is built on. The caller closes `uses` and changes `lifecycle`. */
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
  const trail = new AuditTrail(orm, log)
  const app = new Koa()
  logErrors(app, log)
  app.context.credentialCheck = credentialCheck
  app.context.guessing = config.throttle ? guessingLimits(orm, isTls) : undefined

  app.use(client(config.trustProxy))
  app.use(requestLog(log))
  app.use(audited(trail))
  app.use(securityHeaders)
  app.use(views())
  app.use(errorBoundary())
  app.use(refuseAmbiguousFraming)
  app.use(oneHost)
  app.use(health(orm, lifecycle))
  app.use(await staticFiles(join(root, 'public')))
  app.use(refuseCrossSite(config.publicUrl?.origin))
  app.use(basicFromHereOnly)
  if (config.production) app.use(basicOverTlsOnly)
  // Before authentication: a body may take long to arrive, and the user must not be older than its last byte.
  app.use(body({ unless: isSignInByHeader }))
  app.use(databases(orm))
  app.use(auth())
  app.use(sessions(app, new SessionStore(orm, uses.sessions), { isTls }))
  app.use(User.sessionAuthenticator({ remember: 'signed-in', key: 'user' }))
  app.use(pageState(config.publicUrl?.origin))

  const keys = new JWTKeys({
    ...config.jwtKeys,
    issuer: 'koa-authenticators',
    audience: 'koa-authenticators',
  })
  const router = createRouter({ keys, uses, isTls, trail })
  app.use(router.routes())
  app.use(router.allowedMethods())
  return app
}

/** The routes of all features. */
export function createRouter({ keys, uses, isTls, trail }: RouteOptions): Router<object, SiteContext> {
  // Strict: a path in another spelling is another path, so that the log and the throttle count the same paths.
  // All methods: a path that a route has answers 405, and not 501, to any other.
  const router = new Router<object, SiteContext>({ strict: true, sensitive: true, methods: METHODS })
  api(router, { keys, uses })
  home(router)
  signUp(router)
  signIn(router, keys)
  signOut(router)
  profile(router)
  changeName(router)
  ownSessions(router, uses)
  tokens(router, { uses, isTls })
  password(router)
  close(router)
  activity(router, trail)
  return router
}

interface RouteOptions {
  readonly keys: JWTKeys
  readonly uses: SiteUses
  readonly isTls: boolean
  readonly trail: AuditTrail
}

function guessingLimits(orm: MikroORM, isTls: boolean): Guessing {
  return { throttle: new Throttle(orm), devices: new KnownDevices(new Devices(orm), { isTls }) }
}
