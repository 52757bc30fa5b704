import cluster, { type Address, type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../../config/config.ts'
import { stopOnSignals } from '../../http/stop-signals.ts'
import type { Logger } from '../../log/log.ts'
import { urlOf } from '../../serving.ts'

/** How long a worker may take to stop after `DRAIN_SECONDS`, in milliseconds. After that, it is killed. */
export const finishTimeout = 20_000
const shortestPause = 100
const longestPause = 5_000

/**
 * Starts several processes that share a port. The operating system distributes the connections. On SIGHUP, new workers
 * replace the old ones, one by one, without losing a request. The new workers run the code that is then on the disk.
 */
export async function startWorkers(config: Config, log: Logger): Promise<void> {
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({ args: ['server'] })
  const workers = new Workers(config, log)
  const address = await workers.start()
  // The reason has already been printed.
  if (!address) process.exit(1)

  for (const warning of config.warnings) log.warn(warning)
  stopOnSignals(
    log,
    () => workers.stop(),
    () => workers.kill(),
  )
  process.on('SIGHUP', () => workers.restart())
  log.info({ url: urlOf(config.host, address.port), workers: config.workers }, 'listening')
}

class Workers {
  readonly #config: Config
  readonly #log: Logger
  readonly #ends = new Map<Worker, Promise<WorkerExit>>()
  readonly #stopping = new Set<Worker>()
  #restarts = Promise.resolve()
  #isServing = false
  #failures = 0

  constructor(config: Config, log: Logger) {
    this.#config = config
    this.#log = log
  }

  /** Starts one worker before the others, so that a problem is printed only once. Returns `undefined` if this worker fails. */
  async start(): Promise<Address | undefined> {
    const address = await this.#launch()
    if (!address) return undefined
    this.#isServing = true
    await Promise.all(Array.from({ length: this.#config.workers - 1 }, () => this.#launch()))
    return address
  }

  restart(): void {
    this.#restarts = this.#restarts.then(() => this.#replaceAll())
  }

  async stop(): Promise<void> {
    this.#isServing = false
    await Promise.all(
      [...this.#ends.keys()].map((each) => this.#end(each, () => each.process.kill('SIGTERM'))),
    )
  }

  kill(): void {
    for (const each of this.#ends.keys()) each.process.kill('SIGKILL')
  }

  get #remaining(): Worker[] {
    return [...this.#ends.keys()].filter((each) => !this.#stopping.has(each))
  }

  /** Starts a worker, and returns its address when it listens. Returns `undefined` if the worker ends first. */
  async #launch(): Promise<Address | undefined> {
    const worker = cluster.fork()
    const ended = endOf(worker)
    this.#ends.set(worker, ended)
    ended.then((ending) => this.#replace(worker, ending))
    const [address] = await Promise.race([once(worker, 'listening'), ended.then(() => [])])
    if (!address) return undefined
    this.#failures = 0
    this.#log.info({ worker: worker.process.pid }, 'a worker listens')
    return address
  }

  async #replace(worker: Worker, ending: WorkerExit): Promise<void> {
    this.#ends.delete(worker)
    if (this.#stopping.delete(worker)) return
    if (!this.#isServing) {
      if (ending.signal)
        console.error(`The first worker process was ended by ${ending.signal} before it listened.`)
      return
    }
    this.#log.error({ worker: worker.process.pid, ...ending }, 'a worker has ended')
    if (this.#failures > 0) await sleep(Math.min(shortestPause * 2 ** this.#failures, longestPause))
    this.#failures += 1
    if (this.#isServing && this.#remaining.length < this.#config.workers) await this.#launch()
  }

  async #replaceAll(): Promise<void> {
    this.#log.info('restarting')
    for (const old of this.#remaining) {
      if (!(await this.#launch())) {
        this.#log.error('restart cancelled: a new worker could not start, so the old workers stay')
        return
      }
      if (this.#ends.has(old)) await this.#end(old, () => old.process.send('stop', () => {}))
    }
    this.#log.info('restarted')
  }

  async #end(worker: Worker, signal: () => void): Promise<void> {
    this.#stopping.add(worker)
    signal()
    const timeout = this.#config.drainSeconds * 1000 + finishTimeout
    const timer = setTimeout(() => worker.process.kill('SIGKILL'), timeout)
    await this.#ends.get(worker)
    clearTimeout(timer)
  }
}

interface WorkerExit {
  readonly code?: number | null
  readonly signal?: string | null
}

function endOf(worker: Worker): Promise<WorkerExit> {
  return new Promise((resolve) => {
    worker.once('exit', (code, signal) => resolve({ code, signal }))
    // If the system cannot start the process, there is no `exit` event.
    worker.on('error', ({ message }) => {
      if (worker.process.pid !== undefined) return
      console.error(`A worker process cannot start: ${message}.`)
      resolve({})
    })
  })
}
