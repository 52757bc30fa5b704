const mostForOne = 100
const most = 200

/** Limits the attempts that have no place yet, so that a flood at one account keeps nothing else from the database. */
export class PendingLimit {
  readonly #counts = new Map<string, number>()
  #all = 0

  /**
   * Counts an attempt until the function that it returns is called. Returns `undefined` if there are too many with this
   * key, or in all. A known device has its own key, and strangers cannot keep it out.
   */
  enter(key: string, { isKnownDevice }: { isKnownDevice: boolean }): (() => void) | undefined {
    const count = this.#counts.get(key) ?? 0
    if (count >= mostForOne || (this.#all >= most && !isKnownDevice)) return undefined
    this.#counts.set(key, count + 1)
    this.#all += 1
    return () => this.#leave(key)
  }

  #leave(key: string): void {
    const count = this.#counts.get(key) ?? 0
    if (count > 1) this.#counts.set(key, count - 1)
    else this.#counts.delete(key)
    this.#all -= 1
  }
}
