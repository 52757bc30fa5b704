import type { Logger } from '../log/log.ts'

// In milliseconds. A signal can arrive twice: from the terminal or systemd, and from npm or the primary process, which pass it on.
const secondSignal = 1_000

/** After SIGTERM or SIGINT, shuts down and exits with 0. After a second signal, at least a second later, exits with 1. */
export function stopOnSignals(log: Logger, shutDown: () => Promise<void>): void {
  let startedAt: number | undefined
  const stop = async (signal: string) => {
    startedAt = performance.now()
    log.info({ signal }, 'stopping')
    await shutDown()
    log.info('stopped')
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.on(signal, () => {
      if (startedAt === undefined) stop(signal)
      else if (performance.now() - startedAt >= secondSignal) process.exit(1)
    })
  // `npm start` sends a signal to a shell, which exits without passing it on.
  if (process.env.npm_lifecycle_event) onParentExit(() => startedAt === undefined && stop('SIGTERM'))
}

function onParentExit(stop: () => void): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    stop()
  }, 500).unref()
}
