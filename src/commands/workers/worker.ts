import cluster, { type Worker } from 'node:cluster'
import type { Logger } from '../../log/log.ts'
import type { Serving } from '../../serving.ts'

/** Stops a worker when its primary says so or has ended. A worker that is starting stops once it serves. */
export function followPrimary(starting: Promise<Serving>, log: Logger): void {
  let isStopping = false
  const stop = async (how: 'stop' | 'giveWay') => {
    if (isStopping) return
    isStopping = true
    log.info('stopping')
    const serving = await starting
    await serving[how]()
    log.info('stopped')
    process.exit(0)
  }
  process.on('SIGTERM', () => stop('stop'))
  // A terminal sends these to the workers too.
  process.on('SIGINT', () => stop('stop'))
  process.on('SIGHUP', () => {})
  process.on('message', () => stop('giveWay'))
  cluster.worker?.once('disconnect', function (this: Worker) {
    // Without this, Node ends the worker at once.
    this.exitedAfterDisconnect = true
    log.error('the primary has gone')
    stop('giveWay')
  })
}
