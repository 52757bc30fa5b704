// Koa with the look-ups written by hand and the chores of the site: one line of the log, the same headers, static files, the
// check against other sites, errors with a body, bodies of at most 16 KB, as many routes, koa-session, and pages through
// koa-views and Eta.
import { randomFillSync, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import { extname, join } from 'node:path'
import Router from '@koa/router'
import Koa, { type Context } from 'koa'
import bodyParser from 'koa-bodyparser'
import session from 'koa-session'
import koaViews from 'koa-views'
import { pino } from 'pino'
import { publicUrl } from '../data.ts'
import { host, port } from './environment.ts'
import { accountView, loginView, rendered, templates } from './pages.ts'
import type { Person } from './row-rules.ts'
import { endSession, saveSession, userBySession, userByToken } from './rows.ts'
import { isGood } from './verify-by-hand.ts'

const publicFolder = join(import.meta.dirname, '../../public')
const furtherPages = [
  ...['/', '/signup', '/secure', '/.well-known/change-password', '/account/sessions', '/account/tokens'],
  ...['/account/activity', '/account/password', '/account/close', '/account/closed'],
]
const furtherForms = [
  ...['/users', '/login', '/logout', '/account/name', '/account/password', '/account/close'],
  ...['/account/sessions/end-others', '/account/sessions/:id/end', '/account/tokens'],
  '/account/tokens/:id/revoke',
]

const headers = new Map(
  Object.entries({
    'Content-Security-Policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Cache-Control': 'no-store',
    'Strict-Transport-Security': 'max-age=63072000; includeSubDomains',
  }),
)

const random = Buffer.alloc(4096)
let drawn = random.length

const log = pino(
  { base: null, timestamp: pino.stdTimeFunctions.isoTime },
  pino.destination({ sync: false, minLength: 4096 }),
)
const app = new Koa({ proxy: true, maxIpsCount: 1 })

app.use(async (ctx, next) => {
  const start = performance.now()
  const request = randomUUID()
  try {
    await next()
  } finally {
    const ms = Math.round((performance.now() - start) * 10) / 10
    log.info(
      { request, address: ctx.ip, method: ctx.method, path: ctx.path, status: ctx.status, ms },
      'request',
    )
  }
})

app.use((ctx, next) => {
  ctx.res.setHeaders(headers)
  return next()
})

app.use(async (ctx, next) => {
  try {
    await next()
    if (ctx.status >= 400 && ctx.body == null) ctx.throw(ctx.status)
  } catch (error) {
    const isOurs = error instanceof Koa.HttpError && error.expose
    if (!isOurs) ctx.app.emit('error', error, ctx)
    ctx.status = isOurs ? error.status : 500
    ctx.body = { title: STATUS_CODES[ctx.status], status: ctx.status }
    ctx.type = 'application/problem+json'
  }
})

const files = new Map(
  readdirSync(publicFolder).map((name) => [`/${name}`, readFileSync(join(publicFolder, name))]),
)
app.use((ctx, next) => {
  const file = ctx.method === 'GET' || ctx.method === 'HEAD' ? files.get(ctx.path) : undefined
  if (!file) return next()
  ctx.set('Cache-Control', 'no-cache')
  ctx.type = extname(ctx.path)
  ctx.body = file
})

app.use((ctx, next) => {
  const isSafe = ctx.method === 'GET' || ctx.method === 'HEAD' || ctx.method === 'OPTIONS'
  const site = ctx.get('Sec-Fetch-Site')
  const from = ctx.get('Origin')
  const isOurs = site ? site === 'same-origin' || site === 'none' : from === '' || from === publicUrl
  if (!isSafe && !isOurs) ctx.throw(403)
  return next()
})

app.use(bodyParser({ enableTypes: ['json', 'form'], jsonLimit: '16kb', formLimit: '16kb' }))

app.use(
  koaViews(templates, {
    extension: 'eta',
    engineSource: {
      eta: async (path: string, { view }: { view: object }) =>
        rendered(path.slice(templates.length + 1), view),
    },
  }),
)

app.use(
  session(
    {
      key: '__Host-session',
      maxAge: 24 * 60 * 60 * 1000,
      secure: true,
      sameSite: 'lax',
      // 256 random bits that are looked up need no signature.
      signed: false,
      genid: newIdentifier,
      store: {
        // With its user, so that nobody has to ask again.
        get: async (id, _maxAge, { ctx }) => {
          const user = await userBySession(id)
          ctx.state.user = user
          return user && { user: user.id }
        },
        set: async (id, data) => saveSession(id, data),
        destroy: async (id) => endSession(id),
      },
    },
    app,
  ),
)

const router = new Router()

router.get('/healthz', (ctx) => {
  ctx.body = 'ok'
})

router.get('/me', async (ctx) => {
  const token = bearer(ctx)
  const user = token ? await userByToken(token) : signedIn(ctx)
  if (!user) return unauthorized(ctx)
  const { id, name, email } = user
  ctx.body = { id, name, email }
})

router.post('/validateLoggedInUser', (ctx) => {
  if (!isGoodToken(bearer(ctx))) return unauthorized(ctx)
  ctx.body = ''
})

router.get('/account', (ctx) => {
  const user = signedIn(ctx)
  if (!user) return ctx.redirect('/login?next=%2Faccount')
  return ctx.render('account.eta', { view: accountView(user) })
})

router.get('/login', (ctx) => {
  if (signedIn(ctx)) return ctx.redirect('/account')
  return ctx.render('login.eta', { view: loginView() })
})

// The site has so many; nobody asks for them here.
for (const path of furtherPages) router.get(path, (ctx) => ctx.throw(501))
for (const path of furtherForms) router.post(path, (ctx) => ctx.throw(501))

app.use(router.routes())
app.use(router.allowedMethods())
app.listen(port, host)

/** 256 random bits; koa-session asks for some on every request without a session. */
function newIdentifier(): string {
  if (drawn === random.length) {
    randomFillSync(random)
    drawn = 0
  }
  drawn += 32
  return random.toString('base64url', drawn - 32, drawn)
}

function bearer(ctx: Context): string {
  return /^Bearer +(\S+)$/i.exec(ctx.get('Authorization'))?.[1] ?? ''
}

function isGoodToken(token: string): boolean {
  try {
    return isGood(token)
  } catch {
    return false
  }
}

function signedIn(ctx: Context): Person | undefined {
  const { user } = ctx.state
  return user && ctx.session?.user === user.id ? user : undefined
}

function unauthorized(ctx: Context): void {
  ctx.status = 401
  ctx.set('WWW-Authenticate', 'Bearer')
  ctx.body = { error: 'Unauthorized' }
}
