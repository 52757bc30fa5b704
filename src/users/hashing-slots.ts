import { availableParallelism } from 'node:os'
import { Refusal, TryLater } from '../refusal.ts'

// The queue holds five seconds of work. A stranger waits longer only while known devices go first.
const longestWork = 5000
const longestWait = 10_000

/** Who waits for a hash. */
export interface HashingOptions {
  /** Whether it is a device that the account knows: it goes first, and takes the place of a stranger in a full queue. */
  readonly isKnownDevice?: boolean
  /** Whether the client has closed the connection. */
  readonly hasLeft?: () => boolean
}

/**
 * Limits how many hashes run at a time, one for each core of this process. Behind them is a bounded queue: first in, first
 * out, known devices first. A flood of sign-ins so delays nothing but sign-ins.
 */
export class HashingSlots {
  readonly #slots: number
  readonly #known: PromiseWithResolvers<void>[] = []
  readonly #strangers: PromiseWithResolvers<void>[] = []
  #running = 0
  // The running mean of one evaluation, in milliseconds.
  #duration: number

  /** @param options `processes` on this machine share its cores; each has one at least */
  constructor({
    processes = 1,
    slots = Math.max(1, Math.floor(availableParallelism() / processes)),
    duration = 50,
  } = {}) {
    this.#slots = slots
    this.#duration = duration
  }

  /**
   * Evaluates when there is a slot.
   *
   * @throws {TryLater} 503, at once if the queue is full, or after ten seconds
   * @throws {Refusal} 400, if the client has left
   */
  async run<Result>(
    evaluate: () => Promise<Result>,
    { isKnownDevice = false, hasLeft = () => false }: HashingOptions = {},
  ): Promise<Result> {
    if (this.#running < this.#slots) this.#running += 1
    else await this.#wait(isKnownDevice)
    try {
      if (hasLeft()) throw new Refusal(400, 'The connection was closed while this request waited.')
      return await this.#measure(evaluate)
    } finally {
      this.#passOn()
    }
  }

  /** How many may wait: never fewer than 64, so that a burst of people is no flood. */
  get places(): number {
    return Math.max(64, Math.floor((longestWork / this.#duration) * this.#slots))
  }

  #wait(isKnownDevice: boolean): Promise<void> {
    if (this.#waiting >= this.places) this.#makeRoom(isKnownDevice)
    const queue = isKnownDevice ? this.#known : this.#strangers
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

  /** Refuses the stranger who came last, for a known device. Throws if there is none, or for a stranger. */
  #makeRoom(isKnownDevice: boolean): void {
    const last = isKnownDevice ? this.#strangers.pop() : undefined
    if (!last) throw this.#full()
    last.reject(this.#full())
  }

  async #measure<Result>(evaluate: () => Promise<Result>): Promise<Result> {
    const start = performance.now()
    try {
      return await evaluate()
    } finally {
      this.#duration += (performance.now() - start - this.#duration) / 8
    }
  }

  #passOn(): void {
    const next = this.#known.shift() ?? this.#strangers.shift()
    if (next) next.resolve()
    else this.#running -= 1
  }

  get #waiting(): number {
    return this.#known.length + this.#strangers.length
  }

  #full(): TryLater {
    const seconds = Math.ceil((this.#waiting * this.#duration) / this.#slots / 1000)
    return new TryLater(
      503,
      'Too many people are signing in at the moment. Please try again shortly.',
      Math.max(1, seconds),
    )
  }
}
