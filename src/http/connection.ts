import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** An open connection and its requests. */
export interface Connection {
  readonly socket: Socket
  /** The responses not yet sent, in order: the first request is at work, the others wait (pipelining). */
  readonly responses: ServerResponse[]
  /** How many requests are in memory, including requests that are never begun. */
  held: number
  /** Whether no further request is begun. */
  isClosing: boolean
}

/** Tells the client with the last response that the connection ends (RFC 9112 §9.6). */
export function announceClose({ responses: [current, next] }: Connection): void {
  if (current && !next && !current.headersSent) current.setHeader('Connection', 'close')
}

/** Removes the last of several requests if it is incomplete. Returns whether it was. */
export function dropIncomplete({ responses }: Connection): boolean {
  const isIncomplete = responses.length > 1 && responses.at(-1)?.req.complete === false
  if (isIncomplete) responses.pop()
  return isIncomplete
}

/** Whether a request is complete, or its response has begun, so that the client gets a response. */
export function hasResponse({ responses: [current] }: Connection): boolean {
  return current !== undefined && (current.req.complete || current.headersSent)
}
