import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface Connection {
  readonly socket: Socket
  /** Unfinished responses, in order. The request of the first one runs, the others wait (pipelining). */
  readonly responses: ServerResponse[]
  /** The number of requests in memory, including requests that are never handled. */
  held: number
  /** Whether all further requests are ignored. */
  isClosing: boolean
}

/** Sends `Connection: close` with the last response (RFC 9112 §9.6). */
export function announceClose({ responses: [current, next] }: Connection): void {
  if (current && !next && !current.headersSent) current.setHeader('Connection', 'close')
}

/** Removes the last of several requests if it is incomplete. Returns whether it was removed. */
export function dropIncomplete({ responses }: Connection): boolean {
  const isIncomplete = responses.length > 1 && responses.at(-1)?.req.complete === false
  if (isIncomplete) responses.pop()
  return isIncomplete
}

/** Whether the current request gets a response, because it is complete or its response has started. */
export function hasResponse({ responses: [current] }: Connection): boolean {
  return current !== undefined && (current.req.complete || current.headersSent)
}
