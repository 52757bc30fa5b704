import type { Next } from 'koa'
import bodyParser from 'koa-bodyparser'
import { parseJsonObject } from '#auth'
import { Refusal } from '../refusal.ts'
import type { SiteContext } from './site-context.ts'

const sentences: Record<number, string> = {
  413: 'The body of this request is too large: we take at most 16 KB.',
  415: 'The body of this request is in an encoding that we do not take.',
}

const parse = bodyParser({
  enableTypes: ['json', 'form'],
  jsonLimit: '16kb',
  formLimit: '16kb',
  onerror(error) {
    // A body that does not inflate is the client's mistake; the parser takes it for one of ours.
    const status = 'status' in error && typeof error.status === 'number' ? error.status : 400
    throw new Refusal(status, sentences[status] ?? 'The body of this request cannot be read.')
  },
})

/**
 * Decodes a JSON or form body of at most 16 KB. What is neither is a 415, what does not decode a 400.
 *
 * @param unless for which requests the body is ignored
 */
export function body({ unless }: { unless?: (ctx: SiteContext) => boolean } = {}) {
  return (ctx: SiteContext, next: Next) => {
    if (unless?.(ctx)) {
      Object.assign(ctx.request, { body: {} })
      return next()
    }
    // An empty body has no type, and needs none.
    if (ctx.request.length !== 0 && ctx.is('json', 'urlencoded') === false)
      throw new Refusal(415, 'Send JSON or a form.')
    // The parser takes everything for UTF-8, whatever it says of itself.
    if (!/^(utf-?8)?$/i.test(ctx.request.charset)) throw new Refusal(400, 'Send it in UTF-8.')
    // koa-bodyparser's types want Koa's widest context; it reads no more than this one has.
    return parse(ctx as never, () => {
      proveBody(ctx)
      return next()
    })
  }
}

// The parser takes bytes that are no UTF-8 for U+FFFD, and of two members with one name the last.
function proveBody(ctx: SiteContext): void {
  const { rawBody = '' } = ctx.request as { rawBody?: string }
  if (rawBody.includes('\uFFFD')) throw new Refusal(400, 'The body of this request is not UTF-8.')
  if (rawBody !== '' && ctx.is('json') && !parseJsonObject(Buffer.from(rawBody))) {
    throw new Refusal(400, 'Send a JSON object in which each member stands once.')
  }
}

/** The fields of the body as they came: each may be anything, and be missing. */
export function fieldsOf(ctx: SiteContext): Record<string, unknown> {
  const { body } = ctx.request as { body?: unknown }
  return typeof body === 'object' && body !== null ? { ...body } : {}
}
