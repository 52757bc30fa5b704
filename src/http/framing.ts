import type { IncomingMessage } from 'node:http'
import type { Context, Next } from 'koa'
import { Refusal } from '../refusal.ts'

/**
 * The error of a request that Node's parser accepts although its end is ambiguous. Rejects transfer codings other than
 * `chunked`, and every coding in HTTP/1.0 (RFC 9112 §6.1). Rejects unknown expectations, because the body may never arrive
 * (RFC 9110 §10.1.1).
 */
export function framingProblem({ headers, httpVersion }: IncomingMessage): Refusal | undefined {
  const { expect, 'transfer-encoding': coding } = headers
  if (coding !== undefined && (httpVersion !== '1.1' || coding.toLowerCase() !== 'chunked')) {
    return new Refusal(
      400,
      'Send the body with `Content-Length`, or with `Transfer-Encoding: chunked` in HTTP/1.1.',
    )
  }
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    return new Refusal(417, 'The only supported expectation is `Expect: 100-continue`.')
  }
  return undefined
}

/**
 * Rejects a request with an ambiguous end. `Connections` handles no later request of the connection. Also converts the target to a path and
 * a query.
 */
export function refuseAmbiguousFraming(ctx: Context, next: Next): Promise<unknown> {
  const problem = framingProblem(ctx.req)
  if (problem) throw problem
  ctx.url = originForm(ctx.url)
  return next()
}

/** The target as a path and a query (RFC 9112 §3.2.1), or `*` if it is invalid. */
function originForm(target: string): string {
  if (target.startsWith('/')) return target
  const { pathname = '', search = '' } = URL.parse(target) ?? {}
  return pathname.startsWith('/') ? pathname + search : '*'
}
