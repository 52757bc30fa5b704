import type { Counter } from './counter.ts'

// Attempts that wait for one counter. A counter by account has a lower limit, so that a flood at one account leaves room for
// the others of its network.
const maxPerAccount = 100
const maxPerNetwork = 200

/** Limits the attempts that wait for a reservation, so that a flood at one account or from one network does not block the database. */
export class PendingLimit {
  readonly #counts = new Map<string, number>()

  /** Counts an attempt until the result is disposed of. Returns `undefined` if too many attempts wait for one of its counters. */
  enter(counters: readonly Counter[]): Disposable | undefined {
    const isFull = ({ allowance, names: [name] }: Counter) =>
      this.#count(name) >= (allowance.by.includes('account') ? maxPerAccount : maxPerNetwork)
    if (counters.some(isFull)) return undefined
    for (const { names } of counters) this.#counts.set(names[0], this.#count(names[0]) + 1)
    return {
      [Symbol.dispose]: () => {
        for (const { names } of counters) this.#leave(names[0])
      },
    }
  }

  #leave(name: string): void {
    const count = this.#count(name) - 1
    if (count > 0) this.#counts.set(name, count)
    else this.#counts.delete(name)
  }

  #count(name: string): number {
    return this.#counts.get(name) ?? 0
  }
}

/** Runs tasks one at a time. */
export class TaskQueue {
  #last: Promise<void> = Promise.resolve()

  /** Runs a task after the earlier ones. If a task fails, all waiting tasks fail with the same error. */
  run<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(task)
    const last = result.then(() => {})
    this.#last = last
    last.catch(() => {
      if (this.#last === last) this.#last = Promise.resolve()
    })
    return result
  }
}
