import cluster, { type Worker } from 'node:cluster'
import type { Logger } from '../../log/log.ts'
import type { RunningSite } from '../../serving.ts'

/** Stops the worker on SIGTERM or SIGINT, on a message, or when the primary ends. A worker that is still starting finishes its start first. */
export function followPrimary(starting: Promise<RunningSite>, log: Logger): void {
  let isStopping = false
  const stop = async (how: 'stop' | 'stopWithoutDrain') => {
    if (isStopping) return
    isStopping = true
    log.info('stopping')
    const serving = await starting
    await serving[how]()
    log.info('stopped')
    process.exit(0)
  }
  process.on('SIGTERM', () => stop('stop'))
  // A terminal sends SIGINT and SIGHUP to the workers too.
  process.on('SIGINT', () => stop('stop'))
  process.on('SIGHUP', () => {})
  process.on('message', () => stop('stopWithoutDrain'))
  cluster.worker?.once('disconnect', function (this: Worker) {
    // Otherwise Node ends the worker immediately.
    this.exitedAfterDisconnect = true
    log.error('the primary process has ended')
    stop('stopWithoutDrain')
  })
}
