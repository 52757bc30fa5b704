import { join } from 'node:path'
import Router from '@koa/router'
import type { MikroORM } from '@mikro-orm/core'
import Koa from 'koa'
import { auth, refuseCrossSite, SessionAuthenticator } from '#auth'
import { databases, KeyLookUp } from '#auth/mikro-orm'
import { prepared } from '#auth/mikro-orm/prepared'
import type { Services } from './account/services.ts'
import { sessionCookie } from './account/sessions/session-cookie.ts'
import type { Config } from './config/config.ts'
import { root } from './config/root.ts'
import { activity } from './features/activity/activity.ts'
import { api } from './features/api/api.ts'
import { apiTokens } from './features/api-tokens/api-tokens.ts'
import { changeEmail } from './features/change-email/change-email.ts'
import { changePassword } from './features/change-password/change-password.ts'
import { closeAccount } from './features/close-account/close-account.ts'
import { confirm } from './features/confirm/confirm.ts'
import { data } from './features/data/data.ts'
import { forgotPassword } from './features/forgot-password/forgot-password.ts'
import { health } from './features/health/health.ts'
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
import { isSignInByHeader, signIn } from './features/sign-in/sign-in.ts'
import { signInCode } from './features/sign-in/sign-in-code.ts'
import { signUp } from './features/sign-up/sign-up.ts'
import { styleGuide } from './features/style-guide/style-guide.ts'
import { theme } from './features/theme/theme.ts'
import { verifyEmail } from './features/verify-email/verify-email.ts'
import { refuseAmbiguousFraming } from './http/framing.ts'
import { oneHost } from './http/one-host.ts'
import type { Logger } from './log/log.ts'
import { body } from './site/body.ts'
import { generatedFiles, siteData } from './site/brand.ts'
import { basicOverTlsOnly, clientAddress, refuseCrossSiteBasic } from './site/client-address.ts'
import { errorBoundary } from './site/error-boundary.ts'
import { HostCookie } from './site/host-cookie.ts'
import { views } from './site/page.ts'
import { logErrors, requestLog } from './site/request-log.ts'
import { securityHeaders } from './site/security-headers.ts'
import type { SiteContext, SiteRouter } from './site/site-context.ts'
import { staticFiles } from './site/static-files.ts'
import { themeCookie } from './site/theme-cookie.ts'
import { setBcryptCost } from './users/password.ts'
import { User } from './users/user.ts'

// An import would load `fetch` too, which slows the start and takes memory.
const { METHODS } = process.getBuiltinModule('node:http')

/** The dependencies of the application. The caller sets `lifecycle.isDraining` before a drain, in which the process still serves requests. */
interface AppOptions {
  readonly orm: MikroORM
  readonly config: Config
  readonly log: Logger
  readonly services: Services
  readonly lifecycle: { readonly isDraining: boolean }
}

/** Creates the application. The first middleware sees the request first and the response last. */
export async function createApp({ orm, config, log, services, lifecycle }: AppOptions): Promise<Koa> {
  setBcryptCost(config.bcryptCost)
  const files = await staticFiles(join(root, 'public'), generatedFiles(config))
  const users = new KeyLookUp(User)
  const app = new Koa()
  app.context.render = views({ ...siteData(config), version: files.version }, themeCookie(services.isTls))
  logErrors(app, log)

  app.use(clientAddress(config.trustProxy))
  app.use(requestLog(log, services.trail))
  app.use(securityHeaders(config.hsts))
  app.use(errorBoundary)
  app.use(refuseAmbiguousFraming)
  app.use(health(orm, lifecycle))
  app.use(oneHost)
  app.use(files.serve)
  const providers = siteProviders(config)
  if (providers) app.use(formPostAnswers(services.providers))
  app.use(refuseCrossSite(config.publicUrl?.origin))
  app.use(refuseCrossSiteBasic)
  if (config.production) app.use(basicOverTlsOnly)
  // Before authentication. Otherwise, a session that ends while a slow body arrives would still sign the request in.
  app.use(body({ unless: isSignInByHeader }))
  app.use(databases(orm, { lookUps: prepared(), lastUses: [services.uses.tokens] }))
  app.use(auth())
  app.use(sessionCookie(app, services.sessions, { isTls: services.isTls }))
  const session = { remember: 'signed-in', key: 'user' } as const
  app.use(SessionAuthenticator.from(User, (id, ctx) => users.find(ctx, id), session))

  const router = createRouter(services, providers)
  if (!config.production) styleGuide(router)
  app.use(router.routes())
  app.use(router.allowedMethods())
  return app
}

/** The routes of the features. The health checks are middleware instead. */
export function createRouter(services: Services, providers?: SiteProviders): SiteRouter {
  const { isTls, outbox } = services
  // `strict` and `sensitive` give each route only one path, because some code compares `ctx.path`.
  // `methods`, so that a known path responds to a method such as `PURGE` with 405, not 501.
  const router = new Router<object, SiteContext>({ strict: true, sensitive: true, methods: METHODS })
  // Passes a notice to the sign-in page after a reset. There is no session, and any link could set a query parameter.
  const resetNotice = new HostCookie('password-reset', { isTls })
  api(router, services)
  home(router, services)
  signUp(router, services)
  const showSignIn = signIn(router, services, resetNotice)
  signInCode(router, services)
  passkeySignIn(router, services)
  resetPassword(router, services, resetNotice)
  if (outbox) forgotPassword(router, services, outbox)
  const showProfile = profile(router, services)
  if (outbox) verifyEmail(router, services, { outbox, showProfile })
  sessions(router, services)
  apiTokens(router, services)
  changePassword(router, services)
  if (outbox) changeEmail(router, services, outbox)
  closeAccount(router, services)
  confirm(router, services)
  const showSecurity = security(router, services)
  authenticatorApp(router, services)
  accountPasskeys(router, services, showSecurity)
  if (providers) providerRoutes(router, services, { providers, showSignIn, showSecurity })
  activity(router, services)
  data(router, services)
  theme(router, services)
  problems(router)
  return router
}
