import { parse as parseQuery } from 'node:querystring'
import type { ExtendableContext, Next } from 'koa'
import bodyParser from 'koa-bodyparser'
import { Refusal } from '../refusal.ts'
import { parseJsonObject } from './json-object.ts'

const mostFields = 50
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const sentences: Record<number, string> = {
  413: 'The body of this request is too large: we take at most 16 KB.',
  415: 'The body of this request is in an encoding that we do not take.',
}

// Its own decoding forgives too much: it reads and inflates, and hands over the bytes.
const bytesOnly = {
  enableTypes: ['text'],
  extendTypes: { text: ['application/json', 'application/x-www-form-urlencoded'] },
  textLimit: '16kb',
  encoding: false,
}

const read = bodyParser({
  ...bytesOnly,
  onerror(error) {
    // A body that does not inflate, or whose sender has hung up, is the client's mistake; the parser takes it for ours.
    const status = 'status' in error && typeof error.status === 'number' ? error.status : 400
    throw new Refusal(
      status < 500 ? status : 400,
      sentences[status] ?? 'The body of this request cannot be read.',
    )
  },
})

/**
 * Decodes a JSON or form body of at most 16 KB. What is neither is a 415, what does not decode a 400. Stands before
 * whatever finds out who is asking: that must not be older than the body, which may be a long time in coming.
 *
 * @param unless for which requests the body is ignored
 */
export function body({ unless }: { unless?: (ctx: ExtendableContext) => boolean } = {}) {
  return (ctx: ExtendableContext, next: Next): unknown => {
    if (!hasBody(ctx)) return next()
    if (unless?.(ctx)) {
      Object.assign(ctx.request, { body: {} })
      return next()
    }
    if (!ctx.is('json', 'urlencoded')) throw new Refusal(415, 'Send JSON or a form.')
    // We take everything for UTF-8, whatever it says of itself.
    if (!/^(utf-?8)?$/i.test(ctx.request.charset)) throw new Refusal(400, 'Send it in UTF-8.')
    // koa-bodyparser's types want Koa's widest context; it reads no more than this one has.
    return read(ctx as never, () => {
      Object.assign(ctx.request, { body: decode(ctx) })
      return next()
    })
  }
}

// What comes with a GET means nothing (RFC 9110 §9.3.1), and nobody waits for it.
function hasBody({ method, req: { headers } }: ExtendableContext): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function decode(ctx: ExtendableContext): Record<string, unknown> {
  const { body: bytes } = ctx.request as { body?: unknown }
  // It writes a text for nothing at all.
  if (!(bytes instanceof Uint8Array) || bytes.length === 0) return {}
  const text = textOf(bytes)
  if (ctx.is('urlencoded')) return fieldsOfForm(text)
  const members = parseJsonObject(bytes)
  if (!members) throw new Refusal(400, 'Send a JSON object in which each member stands once.')
  return members
}

function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new Refusal(400, 'The body of this request is not UTF-8.')
  }
}

/** The fields of a form: of several with one name a list. */
function fieldsOfForm(text: string): Record<string, unknown> {
  if (text.split('&').length > mostFields)
    throw new Refusal(400, `Send a form of at most ${mostFields} fields.`)
  proveEscapes(text)
  const fields = parseQuery(text)
  // Others take `[name]` and `name[]` for other spellings of `name`.
  if (Object.keys(fields).some((name) => /[[\]]/.test(name)))
    throw new Refusal(400, 'Send a form whose fields have no brackets in their names.')
  return fields
}

// What is no escape, or one of bytes that are no UTF-8, would be taken literally.
function proveEscapes(text: string): void {
  try {
    decodeURIComponent(text)
  } catch {
    throw new Refusal(400, 'The fields of this form are not encoded in UTF-8.')
  }
}

/** The fields of the body as they came: each may be anything, and be missing. */
export function fieldsOf(ctx: ExtendableContext): Record<string, unknown> {
  const { body } = ctx.request as { body?: unknown }
  return typeof body === 'object' && body !== null ? { ...body } : {}
}
