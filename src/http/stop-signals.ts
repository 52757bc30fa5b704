import type { Logger } from '../log/log.ts'

/** How a process ends. */
export interface Stop {
  /** After the first signal: in good order. */
  inOrder(): Promise<void>
  /** At the second one, before it ends without waiting any more. */
  atOnce?(): void
}

/**
 * Ends the process after SIGTERM or SIGINT: in good order with 0, and at once with 1 if there is a second one. SIGHUP is
 * left to Node, which ends the process at once: its terminal has gone.
 */
export function stopOnSignals(log: Logger, { inOrder, atOnce }: Stop): void {
  let isStopping = false
  const stop = async (signal: string) => {
    if (isStopping) {
      atOnce?.()
      process.exit(1)
    }
    isStopping = true
    log.info({ signal }, 'stopping')
    await inOrder()
    log.info('stopped')
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  // `npm start` hands a signal to a shell, which ends and leaves us behind.
  if (process.env.npm_lifecycle_event) whenLeftBehind(() => stop('SIGTERM'))
}

function whenLeftBehind(stop: () => void): void {
  const parent = process.ppid
  const look = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(look)
    stop()
  }, 500).unref()
}
