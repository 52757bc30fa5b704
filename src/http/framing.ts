import type { IncomingMessage } from 'node:http'
import type { Context, Next } from 'koa'
import { Refusal } from '../refusal.ts'

/**
 * Why nobody can be sure where a request ends, though Node's parser goes on behind it: chunks in HTTP/1.0, which a proxy
 * may not know, or another coding beside them (RFC 9112 §6.1), or an expectation that we do not meet, whose body may
 * never come (RFC 9110 §10.1.1). `undefined` if there is nothing of the kind.
 */
export function framingProblem({ headers, httpVersion }: IncomingMessage): Refusal | undefined {
  const { expect, 'transfer-encoding': coding } = headers
  if (coding !== undefined && (httpVersion !== '1.1' || coding.toLowerCase() !== 'chunked')) {
    return new Refusal(400, 'Send the length of the body, or send it in chunks and in no other coding.')
  }
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    return new Refusal(417, 'We do what is asked without being told what to expect.')
  }
  return undefined
}

/** Whether the request has a body, which may be empty. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

/** Refuses such a request. The server begins none of those that seem to come behind it. */
export function clearFraming(ctx: Context, next: Next): Promise<unknown> {
  const problem = framingProblem(ctx.req)
  if (problem) throw problem
  return next()
}
