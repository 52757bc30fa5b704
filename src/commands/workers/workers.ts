import cluster, { type Address, type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../../config/config.ts'
import { stopOnSignals } from '../../http/stop-signals.ts'
import type { Logger } from '../../log/log.ts'
import { urlOf } from '../../serving.ts'

// In milliseconds.
const restartPause = 1_000

/**
 * Starts processes that share a port. The caller has named their program with `cluster.setupPrimary`. The operating system distributes the connections. A process that ends is started again, and
 * SIGTERM or SIGINT stops all of them.
 */
export async function startWorkers(config: Config, log: Logger): Promise<void> {
  cluster.schedulingPolicy = cluster.SCHED_NONE
  // Each worker has a port for its metrics, because they would share a port.
  const fork = (number: number) =>
    cluster.fork(config.metricsPort ? { METRICS_PORT: config.metricsPort + number } : undefined)
  // The others start later, so that a problem is printed only once.
  const first = fork(0)
  const address = await firstAddress(first)
  if (!address) process.exit(1)

  let isStopping = false
  const keepRunning = (worker: Worker, number: number) =>
    worker.once('exit', async (code, signal) => {
      if (isStopping) return
      log.error({ worker: worker.process.pid, code, signal }, 'a worker has ended')
      await sleep(restartPause)
      if (!isStopping) keepRunning(fork(number), number)
    })
  stopOnSignals(log, async () => {
    isStopping = true
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
    for (const worker of workers) worker.process.kill('SIGTERM')
    await Promise.all(workers.map((worker) => once(worker, 'exit')))
  })
  keepRunning(first, 0)
  for (let number = 1; number < config.workers; number += 1) keepRunning(fork(number), number)
  for (const warning of config.warnings) log.warn(warning)
  log.info({ url: urlOf(config.host, address.port), workers: config.workers }, 'listening')
}

/** The address that a worker listens on, or `undefined` if it ends first. */
async function firstAddress(worker: Worker): Promise<Address | undefined> {
  const ended = new AbortController()
  worker.once('exit', (_code, signal) => {
    // Otherwise, the worker has printed the reason.
    if (signal) console.error(`The first worker process was ended by ${signal} before it listened.`)
    ended.abort()
  })
  const [address] = await once(worker, 'listening', ended).catch((error: Error) => {
    if (error.name !== 'AbortError') console.error(`A worker process cannot start: ${error.message}.`)
    return []
  })
  return address
}
