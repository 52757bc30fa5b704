import cluster from 'node:cluster'
import { once } from 'node:events'
import { readConfig } from './config.ts'
import { processLog } from './log/process-log.ts'
import { type Serving, serve } from './serving.ts'
import { startProblem } from './start-problem.ts'
import type { Order, Report } from './workers/messages.ts'

// One of several processes that serve: `src/workers/worker-process.ts` starts it.

try {
  await work()
} catch (error) {
  const problem = startProblem(error)
  if (problem === undefined) console.error(error)
  // All of them have it: the primary says it once.
  else await report({ refused: problem }).then(partFromPrimary)
  process.exit(1)
}

async function work(): Promise<void> {
  const config = readConfig()
  const log = await processLog(config)
  let serving: Serving | undefined
  let isLeaving = false
  const leave = async (how: 'stop' | 'giveWay') => {
    if (isLeaving) return
    isLeaving = true
    log.info('stopping')
    await serving?.[how]()
    log.info('stopped')
    await partFromPrimary()
    process.exit(0)
  }

  process.on('message', (order: Order) => (order === 'purge' ? serving?.purge() : leave(order)))
  // A terminal, or whoever manages services, may signal all processes of a group: the primary sees to the rest.
  process.on('SIGTERM', () => leave('stop'))
  process.on('SIGINT', () => leave('stop'))
  process.on('SIGHUP', () => {})
  whenPrimaryHasGone(() => {
    log.error('the primary has gone')
    // It was the one who accepted: nobody new can come.
    leave('giveWay')
  })

  serving = await serve(config, log)
  await report({ listening: serving.url })
}

function whenPrimaryHasGone(stop: () => void): void {
  const { worker } = cluster
  worker?.once('disconnect', () => {
    if (worker.exitedAfterDisconnect) return
    // Node would end us on the spot.
    worker.exitedAfterDisconnect = true
    stop()
  })
}

function report(message: Report): Promise<void> {
  return new Promise((sent) => {
    // Whether it arrives or not: a primary that has gone is heard of otherwise.
    if (process.send) process.send(message, () => sent())
    else sent()
  })
}

// The primary lets us go when it has read what we told it, and what it has sent us, a connection say, has gone back.
async function partFromPrimary(): Promise<void> {
  if (!cluster.worker?.isConnected()) return
  const parted = once(process, 'disconnect')
  cluster.worker.disconnect()
  await parted
}
