import { availableParallelism } from 'node:os'
import { Refusal, TryLater } from '../refusal.ts'

// In milliseconds. `longestWait` exceeds `longestWork`, because known devices overtake others.
const longestWork = 5_000
const longestWait = 10_000

/** The priority of a hash, and whether it is still needed. */
export interface HashingOptions {
  /** Whether the device is known to the account. Known devices go first, and replace the last unknown one in a full queue. */
  readonly isKnownDevice?: boolean
  /** Whether the client has closed the connection. */
  readonly isDisconnected?: () => boolean
}

/** Limits concurrent hashes to the cores of this process. More hashes wait in a bounded queue, known devices first. */
export class HashingSlots {
  readonly #slots: number
  readonly #known: PromiseWithResolvers<void>[] = []
  readonly #unknown: PromiseWithResolvers<void>[] = []
  #running = 0
  #refused = 0
  // The moving average of the duration of a hash, in milliseconds.
  #duration: number

  /** @param options `processes` is the number of processes that share the cores of this machine */
  constructor({
    processes = 1,
    slots = Math.max(1, Math.floor(availableParallelism() / processes)),
    duration = 50,
  } = {}) {
    this.#slots = slots
    this.#duration = duration
  }

  /**
   * Runs the evaluation when a slot is free.
   * @throws {Refusal} 400, if the client has closed the connection
   * @throws {TryLater} 503 if the queue is full, or after ten seconds in the queue
   */
  async run<Result>(
    evaluate: () => Promise<Result>,
    { isKnownDevice = false, isDisconnected = () => false }: HashingOptions = {},
  ): Promise<Result> {
    if (this.#running < this.#slots) this.#running += 1
    else await this.#wait(isKnownDevice)
    try {
      if (isDisconnected()) throw new Refusal(400, 'The connection was closed while this request waited.')
      const start = performance.now()
      const stop = () => {
        this.#duration += (performance.now() - start - this.#duration) / 8
      }
      return await evaluate().finally(stop)
    } finally {
      const next = this.#known.shift() ?? this.#unknown.shift()
      if (next) next.resolve()
      else this.#running -= 1
    }
  }

  /** The capacity of the queue: five seconds of work, and at least 64 hashes. */
  get capacity(): number {
    return Math.max(64, Math.floor((longestWork / this.#duration) * this.#slots))
  }

  /** The numbers of running, waiting and refused hashes. */
  get state() {
    return { running: this.#running, waiting: this.#waiting, refused: this.#refused }
  }

  #wait(isKnownDevice: boolean): Promise<void> {
    if (this.#waiting >= this.capacity) {
      const last = isKnownDevice ? this.#unknown.pop() : undefined
      if (!last) throw this.#full()
      last.reject(this.#full())
    }
    const queue = isKnownDevice ? this.#known : this.#unknown
    const turn = Promise.withResolvers<void>()
    queue.push(turn)
    const timer = setTimeout(() => {
      queue.splice(queue.indexOf(turn), 1)
      turn.reject(this.#full())
    }, longestWait)
    const stop = () => clearTimeout(timer)
    turn.promise.then(stop, stop)
    return turn.promise
  }

  get #waiting(): number {
    return this.#known.length + this.#unknown.length
  }

  #full(): TryLater {
    this.#refused += 1
    const seconds = Math.max(1, Math.ceil((this.#waiting * this.#duration) / this.#slots / 1000))
    const detail = 'The site is processing too many passwords at the moment. Please try again shortly.'
    return new TryLater(503, detail, seconds)
  }
}
