import type { ChildProcess } from 'node:child_process'
import cluster, { type Worker } from 'node:cluster'
import { join } from 'node:path'
import { home } from '../home.ts'
import type { Order, Report } from './messages.ts'

// A worker that takes longer is stuck.
const longestStart = 60_000

/** How a process ended. */
export interface Ending {
  readonly code: number | null
  readonly signal: string | null
}

/** A process that serves, as the primary sees it. */
export class WorkerProcess {
  /** Of two workers, the one with the higher number has read the newer code. */
  readonly generation: number
  readonly ended: Promise<Ending>
  /** Whether it came to listen. It has not if it ended before. */
  readonly started: Promise<boolean>
  /** Where it listens, once it does. */
  url: string | undefined
  /** Why it cannot, if that is nothing that we could mend. */
  refusal: string | undefined
  /** Whether it was told to go. */
  isLeaving = false
  readonly #worker: Worker

  /** Starts it: with the code as it is on the disk now, and the environment as the primary has it. */
  constructor(generation: number) {
    this.generation = generation
    cluster.setupPrimary({ exec: join(home, 'src/start.js'), args: ['worker'] })
    this.#worker = cluster.fork()
    this.ended = endOf(this.#worker)
    closeWhatIsOnItsWay(this.#worker.process)

    const stuck = setTimeout(() => this.kill(), longestStart)
    this.started = new Promise((resolve) => {
      this.#worker.on('message', (report: Report) => {
        if ('refused' in report) {
          this.refusal = report.refused
          return
        }
        this.url = report.listening
        resolve(true)
      })
      this.ended.then(() => resolve(false))
    })
    this.started.then(() => clearTimeout(stuck))
  }

  get pid(): number | undefined {
    return this.#worker.process.pid
  }

  tell(order: Order): void {
    // One that has gone hears nothing, and nobody needs to hear of that.
    this.#worker.process.send(order, () => {})
  }

  /** Has it go, and waits until it has: so many milliseconds at most. */
  async dismiss(order: 'stop' | 'giveWay', most: number): Promise<void> {
    this.isLeaving = true
    this.tell(order)
    const stuck = setTimeout(() => this.kill(), most)
    await this.ended
    clearTimeout(stuck)
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL')
  }
}

function endOf(worker: Worker): Promise<Ending> {
  return new Promise((resolve) => {
    // Not `disconnect`, which never comes from one that was killed while a connection was on its way to it.
    worker.once('exit', (code, signal) => resolve({ code, signal }))
    // It could not be started, or a message did not reach it, which its end says too.
    worker.on('error', () => worker.process.pid ?? resolve({ code: null, signal: null }))
  })
}

/**
 * A connection is the primary's until a worker has said that it has it. One that is on its way to a worker when that is
 * killed Node would keep open for ever, with nobody to answer it.
 */
function closeWhatIsOnItsWay(child: ChildProcess): void {
  const send = child.send
  let onItsWay: { close(): void } | undefined
  child.send = (...message: unknown[]) => {
    // Node's cluster sends a handle of its own, for which there is no type, or none; others, a callback in its place.
    const handle = message[1] as { close(): void } | (() => void) | null | undefined
    if (handle && typeof handle === 'object') onItsWay = handle
    return Reflect.apply(send, child, message)
  }
  child.on('internalMessage', (message: object) => {
    // Taken or sent back, in which case another worker has it next.
    if ('accepted' in message) onItsWay = undefined
  })
  child.once('exit', () => onItsWay?.close())
}
