import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import { extname, join } from 'node:path'
import Koa, { type Context, type Next } from 'koa'
import { pino } from 'pino'
import { publicUrl } from '../data.ts'

const publicFolder = join(import.meta.dirname, '../../public')
const files = new Map(
  readdirSync(publicFolder).map((name) => [`/${name}`, readFileSync(join(publicFolder, name))]),
)

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

const log = pino(
  { base: null, timestamp: pino.stdTimeFunctions.isoTime },
  pino.destination({ sync: false, minLength: 4096 }),
)

export async function requestLog(ctx: Context, next: Next): Promise<void> {
  const start = performance.now()
  const request = randomUUID()
  try {
    await next()
  } finally {
    const ms = Math.round((performance.now() - start) * 10) / 10
    const { ip: address, method, path, status } = ctx
    log.info({ request, address, method, path, status, ms }, 'request')
  }
}

export function securityHeaders(ctx: Context, next: Next): Promise<void> {
  ctx.res.setHeaders(headers)
  return next()
}

/** Responds to errors with problem+json (RFC 9457). */
export async function errorBoundary(ctx: Context, next: Next): Promise<void> {
  try {
    await next()
    if (ctx.status >= 400 && ctx.body == null) ctx.throw(ctx.status)
  } catch (error) {
    const isExposed = error instanceof Koa.HttpError && error.expose
    if (!isExposed) ctx.app.emit('error', error, ctx)
    ctx.status = isExposed ? error.status : 500
    ctx.body = { title: STATUS_CODES[ctx.status], status: ctx.status }
    ctx.type = 'application/problem+json'
  }
}

/** Serves the public files from memory. */
export function staticFiles(ctx: Context, next: Next): Promise<void> | undefined {
  const file = ctx.method === 'GET' || ctx.method === 'HEAD' ? files.get(ctx.path) : undefined
  if (!file) return next()
  ctx.set('Cache-Control', 'no-cache')
  ctx.type = extname(ctx.path)
  ctx.body = file
  return undefined
}

export function refuseCrossSite(ctx: Context, next: Next): Promise<void> {
  const isSafe = ['GET', 'HEAD', 'OPTIONS'].includes(ctx.method)
  const site = ctx.get('Sec-Fetch-Site')
  const origin = ctx.get('Origin')
  const isSameOrigin = site ? site === 'same-origin' || site === 'none' : ['', publicUrl].includes(origin)
  if (!isSafe && !isSameOrigin) ctx.throw(403)
  return next()
}
