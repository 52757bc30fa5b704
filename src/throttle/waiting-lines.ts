import { setImmediate as turn } from 'node:timers/promises'
import { Refusal, TryLater } from '../refusal.ts'

// More than people who sign in at once from one network, and few enough to hold the requests of.
const mostInLine = 256
const mostInAll = 1000
// Another process tells nobody here of the places that it leaves.
const longestSilence = 250

/** Somebody who wants something that there may be none of at the moment. */
export interface Waiter<Result> {
  /** Tries once. `undefined` is not yet, and an error ends the wait. */
  tries(): Promise<Result | undefined>
  /** Whether there is nobody any more to wait for it. */
  hasLeft(): boolean
  /** When waiting is over, as `performance.now()` tells the time: well before the connection is cut. */
  readonly until: number
}

interface Line {
  length: number
  /** When everybody in it is through. Rejects if nobody can try at the moment. */
  end?: Promise<void>
}

/**
 * Who waits for the same stands in one line, of which only the first one tries again when something has changed. Each try
 * has a turn of the event loop to itself: hundreds who wait delay nobody else. The lines are bounded, each and in all.
 */
export class WaitingLines {
  readonly #lines = new Map<string, Line>()
  #waiting = 0
  #change = Promise.withResolvers<void>()
  #silence: NodeJS.Timeout | undefined
  #lastTurn: Promise<void> = Promise.resolve()

  /**
   * Tries in turn until there is a result.
   *
   * @throws {TryLater} 503, at once, if the line is full; or when its time is over
   * @throws {Refusal} 400, if the waiter has left, which nobody reads
   * @throws whatever else a try before it in the line has thrown: a database that is away is asked once for all of them
   */
  async enter<Result>(key: string, waiter: Waiter<Result>): Promise<Result> {
    const line = this.#lines.get(key) ?? { length: 0 }
    if (line.length > mostInLine || (line.end && this.#waiting >= mostInAll)) throw full()
    const result = line.end ? this.#wait(line.end, waiter) : this.#begin(waiter)
    // Whoever gives up in the middle of the line lets nobody past those who are still before it.
    line.end = Promise.all([line.end, result.then(ignore, unlessAnswered)]).then(ignore)
    line.end.catch(ignore)
    line.length += 1
    this.#lines.set(key, line)
    try {
      return await result
    } finally {
      line.length -= 1
      if (line.length === 0) this.#lines.delete(key)
    }
  }

  /** Says that there may be something now. */
  tell(): void {
    clearTimeout(this.#silence)
    this.#silence = undefined
    this.#change.resolve()
    this.#change = Promise.withResolvers()
  }

  async #begin<Result>(waiter: Waiter<Result>): Promise<Result> {
    const change = this.#change.promise
    return (await waiter.tries()) ?? this.#wait(this.#within(change), waiter)
  }

  async #wait<Result>(until: Promise<void>, waiter: Waiter<Result>): Promise<Result> {
    if (this.#waiting >= mostInAll) throw full()
    this.#waiting += 1
    const late = Promise.withResolvers<never>()
    late.promise.catch(ignore)
    const timer = setTimeout(() => late.reject(full()), Math.max(0, waiter.until - performance.now())).unref()
    try {
      for (let next = until; ; ) {
        // Only waiting is given up: a try that is under way may have taken something.
        await Promise.race([next, late.promise])
        await this.#turn()
        if (performance.now() >= waiter.until) throw full()
        if (waiter.hasLeft()) throw new Refusal(400, 'The connection was closed while this request waited.')
        // From before the try: what changes meanwhile is not missed.
        const change = this.#change.promise
        const result = await waiter.tries()
        if (result !== undefined) return result
        next = this.#within(change)
      }
    } finally {
      clearTimeout(timer)
      this.#waiting -= 1
    }
  }

  #within(change: Promise<void>): Promise<void> {
    this.#silence ??= setTimeout(() => this.tell(), longestSilence).unref()
    return change
  }

  #turn(): Promise<void> {
    this.#lastTurn = this.#lastTurn.then(() => turn())
    return this.#lastTurn
  }
}

function full(): TryLater {
  return new TryLater(503, 'Too many people are signing in at the moment. Please try again shortly.', 5)
}

function ignore(): void {}

/** What somebody was told concerns nobody else; what went wrong does. */
function unlessAnswered(error: unknown): void {
  if (!(error instanceof Refusal)) throw error
}
