import { isUtf8 } from 'node:buffer'
import { parse as parseQuery } from 'node:querystring'
import type { ExtendableContext, Middleware } from 'koa'
import bodyParser from 'koa-bodyparser'
import { type JsonObject, JsonObjectError, readJsonObject } from '../auth/json-object.ts'
import { Refusal } from '../refusal.ts'

const maxFields = 50
// Of the header `Content-Type`. Koa parses its parameters.
const maxTypeLength = 256

// The parser only reads and decompresses the body, because its decoder would accept invalid bodies.
const bytesOnly = {
  enableTypes: ['text'],
  extendTypes: { text: ['application/json', 'application/x-www-form-urlencoded'] },
  textLimit: '16kb',
  encoding: false,
}

const read = bodyParser({
  ...bytesOnly,
  onerror(error) {
    // The parser reports 500 for closed connections, and no status for invalid compression. Both are errors of the client.
    const status = 'status' in error && typeof error.status === 'number' ? error.status : 400
    throw new Refusal(status < 500 ? status : 400)
  },
})

/**
 * Decodes a JSON or form body of at most 16 KB. Other types get 415, invalid bodies 400. Use it before authentication.
 * Otherwise, a session that ends while a slow body arrives would still count.
 *
 * @param unless whether to ignore the body of a request
 */
export function body({ unless }: { unless?: (ctx: ExtendableContext) => boolean } = {}): Middleware {
  return (ctx, next) => {
    if (!hasBody(ctx)) return next()
    if (unless?.(ctx)) {
      Object.assign(ctx.request, { body: {} })
      return next()
    }
    if (!ctx.is('json', 'urlencoded') || ctx.get('Content-Type').length > maxTypeLength)
      throw new Refusal(415, 'Send JSON or a form.')
    if (!/^(utf-?8)?$/i.test(ctx.request.charset)) throw new Refusal('invalid_encoding')
    return read(ctx, () => {
      Object.assign(ctx.request, { body: decode(ctx) })
      return next()
    })
  }
}

// The content of a GET has no meaning (RFC 9110 §9.3.1).
function hasBody({ method, req: { headers } }: ExtendableContext): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function decode(ctx: ExtendableContext): Record<string, unknown> {
  const { body: bytes } = ctx.request as { body?: unknown }
  // The parser returns bytes. The body of a chunked request can be empty.
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) return {}
  if (!isUtf8(bytes)) throw new Refusal('invalid_encoding')
  const text = bytes.toString()
  return ctx.is('urlencoded') ? fieldsOfForm(text) : parseJsonObject(text)
}

/** Parses a JSON object strictly. Throws 400 with a code, for example for a duplicate key. */
function parseJsonObject(json: string): JsonObject {
  try {
    return readJsonObject(json)
  } catch (error) {
    throw error instanceof JsonObjectError ? new Refusal(error.code) : error
  }
}

function fieldsOfForm(text: string): Record<string, unknown> {
  if (text.split('&').length > maxFields)
    throw new Refusal('invalid_form', `A form must not have more than ${maxFields} fields.`)
  refuseInvalidEscapes(text)
  const fields = parseQuery(text)
  // Other parsers read `[name]` and `name[]` as `name`.
  if (Object.keys(fields).some((name) => /[[\]]/.test(name)))
    throw new Refusal('invalid_form', 'Field names must not contain brackets.')
  return fields
}

// `parseQuery` would keep invalid escapes as text.
function refuseInvalidEscapes(text: string): void {
  try {
    decodeURIComponent(text)
  } catch {
    throw new Refusal('invalid_form', 'The form fields must be percent-encoded UTF-8.')
  }
}
