import { availableParallelism } from 'node:os'
import { TryLater } from '../refusal.ts'

const longestWait = 5000

/**
 * The places where bcrypt may run at a time, one for each core, and the queue before them, as long as five seconds of
 * their work. Who finds no room in it is refused at once, so that a flood of log-ins delays nothing but log-ins.
 */
export class HashingSlots {
  readonly #slots: number
  readonly #waiting: (() => void)[] = []
  #running = 0
  // What one evaluation takes, in milliseconds: a running mean.
  #duration: number

  constructor({ slots = availableParallelism(), duration = 50 } = {}) {
    this.#slots = slots
    this.#duration = duration
  }

  /** Evaluates when there is a slot. @throws {TryLater} 503, at once, if the queue is full */
  async run<Result>(evaluate: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#slots) this.#running += 1
    else await this.#wait()
    const start = performance.now()
    try {
      return await evaluate()
    } finally {
      this.#duration += (performance.now() - start - this.#duration) / 8
      this.#passOn()
    }
  }

  /** How many may wait: never fewer than 64, so that a burst of people who sign in is no flood. */
  get places(): number {
    return Math.max(64, Math.floor((longestWait / this.#duration) * this.#slots))
  }

  #wait(): Promise<void> {
    if (this.#waiting.length >= this.places) {
      const seconds = Math.ceil((this.#waiting.length * this.#duration) / this.#slots / 1000)
      throw new TryLater(
        503,
        'Too many people are signing in at the moment. Please try again shortly.',
        Math.max(1, seconds),
      )
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  // The slot goes to whoever waits longest, and is free only if nobody does.
  #passOn(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#running -= 1
  }
}
