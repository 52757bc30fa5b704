import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../log.ts'
import { type Ending, WorkerProcess } from './worker-process.ts'

const mostFailures = 5
const shortestPause = 100
const longestPause = 5_000
// What a worker needs at most when it is told to go, and as much again for a machine that is busy.
const going = 20_000

/** The workers cannot serve. The message is a sentence for the operator. */
export class WorkersError extends Error {
  override readonly name = 'WorkersError'
  readonly code = 'WORKERS'
}

/** As many processes that serve as there should be: who ends is replaced, and one of them purges. */
export class Workers {
  readonly #count: number
  readonly #log: Logger
  readonly #longestLeave: number
  readonly #alive = new Set<WorkerProcess>()
  readonly #complete = Promise.withResolvers<string>()
  readonly #lost = Promise.withResolvers<never>()
  #purger: WorkerProcess | undefined
  #generation = 0
  #isRestarting = false
  #isStopping = false
  // How many in a row ended before they listened.
  #failures = 0

  constructor({ workers, drainSeconds }: { workers: number; drainSeconds: number }, log: Logger) {
    this.#count = workers
    this.#log = log
    this.#longestLeave = drainSeconds * 1000 + going
  }

  /**
   * Starts them, and returns where they listen as soon as all of them do.
   * @throws {WorkersError} if none can
   */
  start(): Promise<string> {
    this.#fill()
    return Promise.race([this.#complete.promise, this.#lost.promise])
  }

  /** @throws {WorkersError} when there is none any more and none that comes */
  get lost(): Promise<never> {
    return this.#lost.promise
  }

  /**
   * Replaces one after the other, in good order: a new one listens, then an old one goes. One that cannot start calls it
   * off, and the old ones stay. Whoever asks for it while it is under way has those replaced, too, that are new by then.
   */
  async restart(): Promise<void> {
    this.#generation += 1
    if (this.#isRestarting || this.#isStopping) return
    this.#isRestarting = true
    this.#log.info('restarting')
    const isDone = await this.#replaceOld()
    this.#isRestarting = false
    if (this.#isStopping) return
    this.#fill()
    if (isDone) this.#log.info('restarted')
    else this.#log.error('restart called off: a new worker could not start, and the old ones stay')
  }

  /** Has all of them go in good order, and waits until they have. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all([...this.#alive].map((each) => each.dismiss('stop', this.#longestLeave)))
  }

  /** Ends all of them on the spot. */
  kill(): void {
    this.#isStopping = true
    for (const each of this.#alive) each.kill()
  }

  /** Those that are to stay, listening already or not. */
  get #staying(): WorkerProcess[] {
    return [...this.#alive].filter(({ isLeaving }) => !isLeaving)
  }

  get #serving(): WorkerProcess[] {
    return this.#staying.filter(({ url }) => url !== undefined)
  }

  #fill(): void {
    while (this.#staying.length < this.#count) this.#hire()
  }

  #hire(): WorkerProcess {
    const worker = new WorkerProcess(this.#generation)
    this.#alive.add(worker)
    worker.started.then((isListening) => isListening && this.#welcome(worker))
    worker.ended.then((ending) => this.#replace(worker, ending))
    return worker
  }

  #welcome({ pid, url }: WorkerProcess): void {
    this.#failures = 0
    this.#log.info({ worker: pid }, 'a worker listens')
    this.#appointPurger()
    if (url !== undefined && this.#serving.length >= this.#count) this.#complete.resolve(url)
  }

  // On one machine, one is enough.
  #appointPurger(): void {
    if (this.#purger && this.#staying.includes(this.#purger)) return
    this.#purger = this.#serving[0]
    this.#purger?.tell('purge')
  }

  async #replace(worker: WorkerProcess, { code, signal }: Ending): Promise<void> {
    this.#alive.delete(worker)
    if (worker.isLeaving || this.#isStopping) return
    this.#appointPurger()
    const { pid, url, refusal } = worker
    if (url === undefined) this.#failures += 1
    if (this.#serving.length === 0 && (refusal || this.#failures >= mostFailures))
      return this.#giveUp(refusal)
    this.#log.error({ worker: pid, code, signal, reason: refusal }, 'a worker has ended')
    await sleep(pauseAfter(this.#failures))
    if (!this.#isStopping && this.#staying.length < this.#count) this.#hire()
  }

  async #replaceOld(): Promise<boolean> {
    const isOld = ({ generation }: WorkerProcess) => generation < this.#generation
    for (let old = this.#staying.find(isOld); old && !this.#isStopping; old = this.#staying.find(isOld)) {
      const young = this.#hire()
      // If it was too old itself when it failed, whoever asked again may have mended it.
      if (await young.started) await this.#retire(old)
      else if (!isOld(young)) return false
    }
    return true
  }

  async #retire(old: WorkerProcess): Promise<void> {
    const gone = old.dismiss('giveWay', this.#longestLeave)
    this.#appointPurger()
    await gone
  }

  #giveUp(refusal = `No worker can start: ${mostFailures} in a row ended before they listened.`): void {
    this.kill()
    this.#lost.reject(new WorkersError(refusal))
  }
}

function pauseAfter(failures: number): number {
  return failures === 0 ? 0 : Math.min(shortestPause * 2 ** (failures - 1), longestPause)
}
