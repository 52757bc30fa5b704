import type { Logger } from '../log/log.ts'

/** After SIGTERM or SIGINT, shuts down and exits with 0. After a second signal, calls `kill` and exits with 1. */
export function stopOnSignals(log: Logger, shutDown: () => Promise<void>, kill = () => {}): void {
  let isStopping = false
  const stop = async (signal: string) => {
    if (isStopping) {
      kill()
      process.exit(1)
    }
    isStopping = true
    log.info({ signal }, 'stopping')
    await shutDown()
    log.info('stopped')
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  // `npm start` sends a signal to a shell, which exits without passing it on.
  if (process.env.npm_lifecycle_event) onParentExit(() => stop('SIGTERM'))
}

function onParentExit(stop: () => void): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    stop()
  }, 500).unref()
}
