import { availableParallelism } from 'node:os'
import { Refusal, TryLater } from '../refusal.ts'
import { HashingQueue } from './hashing-queue.ts'

// Five seconds of work are in the queue; in a line that others take turns with, nobody waits for more than twice that.
const longestWork = 5000
const longestWait = 10_000

/** For whom something is hashed. */
export interface Applicant {
  /** The network that they come from, or their account where they come from a device that it knows. */
  readonly from: string
  /** Whether it is such a device: there are places in the queue that strangers cannot fill. */
  readonly isKnown: boolean
  /** Whether they have gone, and need no answer. */
  readonly hasLeft: () => boolean
}

const somebody: Applicant = { from: '', isKnown: false, hasLeft: () => false }

/**
 * The places where bcrypt may run at a time, one for each core that is ours, and the queue before them, as long as five
 * seconds of their work. Who finds no room in it is refused at once, so that a flood of log-ins delays nothing but log-ins.
 * Networks take turns, and where there is no room the one that has most in the queue makes it.
 */
export class HashingSlots {
  readonly #slots: number
  readonly #queue = new HashingQueue<PromiseWithResolvers<void>>()
  #running = 0
  // What one evaluation takes, in milliseconds: a running mean.
  #duration: number

  /** @param options `processes` that hash on this machine share its cores; each has one at least */
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
   * @throws {TryLater} 503, if the queue is full, at once or when it has to make room; if ten seconds did not do
   * @throws {Refusal} 400, if the applicant has left, which nobody reads
   */
  async run<Result>(evaluate: () => Promise<Result>, applicant = somebody): Promise<Result> {
    if (this.#running < this.#slots) this.#running += 1
    else await this.#wait(applicant)
    try {
      if (applicant.hasLeft()) throw new Refusal(400, 'The connection was closed while this request waited.')
      return await this.#measure(evaluate)
    } finally {
      this.#passOn()
    }
  }

  /** How many may wait: never fewer than 64, so that a burst of people who sign in is no flood. */
  get places(): number {
    return Math.max(64, Math.floor((longestWork / this.#duration) * this.#slots))
  }

  #wait({ from, isKnown }: Applicant): Promise<void> {
    // An eighth more, for known devices alone.
    const places = isKnown ? Math.ceil((this.places * 9) / 8) : this.places
    if (this.#queue.length >= places) {
      const other = this.#queue.giveWay(from)
      if (!other) throw this.#full()
      other.reject(this.#full())
    }
    const turn = Promise.withResolvers<void>()
    this.#queue.add(from, turn)
    const timer = setTimeout(() => {
      this.#queue.remove(from, turn)
      turn.reject(this.#full())
    }, longestWait)
    const stop = () => clearTimeout(timer)
    turn.promise.then(stop, stop)
    return turn.promise
  }

  async #measure<Result>(evaluate: () => Promise<Result>): Promise<Result> {
    const start = performance.now()
    try {
      return await evaluate()
    } finally {
      this.#duration += (performance.now() - start - this.#duration) / 8
    }
  }

  // The slot goes to whoever's turn it is, and is free only if nobody waits.
  #passOn(): void {
    const next = this.#queue.next()
    if (next) next.resolve()
    else this.#running -= 1
  }

  #full(): TryLater {
    const seconds = Math.ceil((this.#queue.length * this.#duration) / this.#slots / 1000)
    return new TryLater(
      503,
      'Too many people are signing in at the moment. Please try again shortly.',
      Math.max(1, seconds),
    )
  }
}
