import { METHODS } from 'node:http'
import { join } from 'node:path'
import Router from '@koa/router'
import type { MikroORM } from '@mikro-orm/core'
import Koa from 'koa'
import { auth, refuseCrossSite } from '#auth'
import { JWTKeys } from '#auth/jwt'
import { databases } from '#auth/mikro-orm'
import { prepared } from '#auth/mikro-orm/prepared'
import type { SiteUses } from './account/last-uses.ts'
import { PendingSignIns } from './account/second-factor/pending-sign-ins.ts'
import { sessionCookie } from './account/sessions/session-cookie.ts'
import { SessionStore } from './account/sessions/session-store.ts'
import type { Config } from './config/config.ts'
import { root } from './config/root.ts'
import { activity } from './features/activity/activity.ts'
import { AuditTrail, auditEvents } from './features/activity/audit-trail.ts'
import { eraseDetails } from './features/activity/event.ts'
import { api } from './features/api/api.ts'
import { apiTokens } from './features/api-tokens/api-tokens.ts'
import { changeEmail } from './features/change-email/change-email.ts'
import { changePassword } from './features/change-password/change-password.ts'
import { closeAccount } from './features/close-account/close-account.ts'
import { confirm } from './features/confirm/confirm.ts'
import { forgotPassword } from './features/forgot-password/forgot-password.ts'
import { health, type Lifecycle } from './features/health/health.ts'
import { home } from './features/home/home.ts'
import { accountPasskeys } from './features/passkeys/account-passkeys.ts'
import { problems } from './features/problems/problems.ts'
import { profile } from './features/profile/profile.ts'
import { formPostAnswers } from './features/providers/form-post.ts'
import { providerRoutes } from './features/providers/provider-routes.ts'
import { type SiteProviders, siteProviders } from './features/providers/site-providers.ts'
import { resetPassword } from './features/reset-password/reset-password.ts'
import { authenticatorApp } from './features/second-factor/authenticator-app.ts'
import { security } from './features/security/security.ts'
import { sessions } from './features/sessions/sessions.ts'
import { passkeySignIn } from './features/sign-in/passkey-sign-in.ts'
import { isSignInByHeader, signIn, signInForm } from './features/sign-in/sign-in.ts'
import { signInCode } from './features/sign-in/sign-in-code.ts'
import { signUp } from './features/sign-up/sign-up.ts'
import { verifyEmail } from './features/verify-email/verify-email.ts'
import { refuseAmbiguousFraming } from './http/framing.ts'
import type { Logger } from './log/log.ts'
import type { Outbox } from './mail/outbox.ts'
import { setServices } from './services.ts'
import { body } from './site/body.ts'
import { generatedFiles, siteData } from './site/brand.ts'
import { basicOverTlsOnly, clientAddress, refuseCrossSiteBasic } from './site/client-address.ts'
import { errorBoundary } from './site/error-boundary.ts'
import { HostCookie } from './site/host-cookie.ts'
import { oneHost } from './site/one-host.ts'
import { logErrors, requestLog } from './site/request-log.ts'
import { securityHeaders } from './site/security-headers.ts'
import type { SiteContext, SiteRouter } from './site/site-context.ts'
import { StaticFiles } from './site/static-files.ts'
import { views } from './site/views.ts'
import type { Throttle } from './throttle/throttle.ts'
import { setBcryptCost } from './users/password.ts'
import { User } from './users/user.ts'

/** The dependencies of the application. The caller closes `uses`, and sets `lifecycle.isDraining` before a drain. */
interface AppOptions {
  readonly orm: MikroORM
  readonly config: Config
  readonly log: Logger
  readonly uses: SiteUses
  /** `undefined` if the site sends no mail. */
  readonly outbox: Outbox | undefined
  readonly throttle: Throttle
  readonly lifecycle: Lifecycle
}

/** Creates the application. The first middleware sees the request first and the response last. */
export async function createApp({
  orm,
  config,
  log,
  uses,
  outbox,
  throttle,
  lifecycle,
}: AppOptions): Promise<Koa> {
  setBcryptCost(config.bcryptCost)
  const isTls = config.secureCookies
  const trail = new AuditTrail(orm, log)
  const files = await StaticFiles.read(join(root, 'public'), generatedFiles(config))
  const app = new Koa()
  logErrors(app, log)
  setServices(app, { orm, config, outbox, throttle })

  app.use(clientAddress(config.trustProxy))
  app.use(requestLog(log))
  app.use(auditEvents(trail))
  app.use(securityHeaders(config.hsts))
  app.use(views({ ...siteData(config), version: files.version }))
  app.use(errorBoundary)
  app.use(refuseAmbiguousFraming)
  // Health checks often have no `Host`.
  app.use(health(orm, lifecycle))
  app.use(oneHost)
  app.use(files.serve())
  const providers = siteProviders(config)
  if (providers) app.use(formPostAnswers([...providers.byId.keys()]))
  app.use(refuseCrossSite(config.publicUrl?.origin))
  app.use(refuseCrossSiteBasic)
  if (config.production) app.use(basicOverTlsOnly)
  // Before authentication. Otherwise, a session that ends while a slow body arrives would still sign the request in.
  app.use(body({ unless: isSignInByHeader }))
  app.use(databases(orm, { lookUps: prepared(), lastUses: [uses.tokens] }))
  app.use(auth())
  app.use(sessionCookie(app, new SessionStore(orm, uses.sessions), { isTls }))
  app.use(User.sessionAuthenticator({ remember: 'signed-in', key: 'user' }))

  const keys = new JWTKeys({
    ...config.jwtKeys,
    issuer: config.jwtIssuer,
    audience: config.jwtIssuer,
  })
  const router = createRouter({ keys, uses, isTls, trail, outbox, providers })
  app.use(router.routes())
  app.use(router.allowedMethods())
  return app
}

/** The routes of the features. The health checks are middleware instead. */
export function createRouter({ keys, uses, isTls, trail, outbox, providers }: RouteOptions): SiteRouter {
  // `strict` and `sensitive` give each route only one path, because some code compares `ctx.path`.
  // `methods`, so that a known path responds to a method such as `PURGE` with 405, not 501.
  const router = new Router<object, SiteContext>({ strict: true, sensitive: true, methods: METHODS })
  const pendingSignIns = new PendingSignIns({ isTls })
  // Passes a notice to the sign-in page after a reset. There is no session, and any link could set a query parameter.
  const resetNotice = new HostCookie('password-reset', { isTls })
  api(router, keys)
  home(router)
  signUp(router)
  signIn(router, { keys, pendingSignIns, resetNotice })
  signInCode(router, pendingSignIns)
  passkeySignIn(router)
  resetPassword(router, { resetNotice, outbox })
  if (outbox) forgotPassword(router, outbox)
  const showProfile = profile(router)
  if (outbox) verifyEmail(router, { outbox, showProfile })
  sessions(router, uses)
  apiTokens(router, { uses, isTls })
  changePassword(router)
  if (outbox) changeEmail(router, outbox)
  closeAccount(router, { eraseDetails })
  confirm(router)
  const showSecurity = security(router)
  authenticatorApp(router, { isTls })
  accountPasskeys(router, { showSecurity, providers: [...(providers?.byId.keys() ?? [])] })
  if (providers) providerRoutes(router, { providers, pendingSignIns, showSignIn: signInForm, showSecurity })
  activity(router, trail)
  problems(router)
  return router
}

interface RouteOptions {
  readonly keys: JWTKeys
  readonly uses: SiteUses
  readonly isTls: boolean
  readonly trail: AuditTrail
  /** `undefined` if the site sends no mail. The site then has no routes that need mail. */
  readonly outbox: Outbox | undefined
  /** `undefined` if the site has no identity providers. */
  readonly providers: SiteProviders | undefined
}
