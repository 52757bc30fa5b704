import type Koa from 'koa'
import type { Context } from 'koa'
import { type Logger, loggable } from '../log/log.ts'

/** Logs what goes wrong on a request. A client that did not wait for its answer has done no wrong, and may come in thousands. */
export function logErrors(app: Koa, log: Logger): void {
  app.on('error', (error: unknown, ctx?: Context) => {
    if (ctx?.req.socket.destroyed && isOfConnection(error)) log.debug(loggable(error), 'the client is gone')
    else log.error(loggable(error), 'error')
  })
}

function isOfConnection(error: unknown): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException
  return syscall === 'write' || syscall === 'read' || code === 'ECONNRESET' || code === 'EPIPE'
}
