import cluster, { type Worker } from 'node:cluster'
import type { Logger } from '../../log/log.ts'
import type { RunningSite } from '../../serving.ts'

/** Stops the worker on SIGTERM or SIGINT, on a message, or when the primary ends. A worker that is still starting finishes its start first. */
export function followPrimary(starting: Promise<RunningSite>, log: Logger): void {
  let isStopping = false
  const stop = async (drain: boolean) => {
    if (isStopping) return
    isStopping = true
    log.info('stopping')
    const serving = await starting
    await serving.stop({ drain })
    log.info('stopped')
    process.exit(0)
  }
  process.on('SIGTERM', () => stop(true))
  // A terminal sends SIGINT and SIGHUP to the workers too.
  process.on('SIGINT', () => stop(true))
  process.on('SIGHUP', () => {})
  process.on('message', () => stop(false))
  cluster.worker?.once('disconnect', function (this: Worker) {
    // Otherwise Node ends the worker immediately.
    this.exitedAfterDisconnect = true
    log.error('the primary process has ended')
    stop(false)
  })
}
