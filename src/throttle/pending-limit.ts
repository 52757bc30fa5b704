const maxPerKey = 100
const maxTotal = 200

/** Limits the attempts that wait for a reservation, so that a flood at one account does not block the database. */
export class PendingLimit {
  readonly #counts = new Map<string, number>()
  #total = 0

  /**
   * Counts an attempt until the returned function is called. Returns `undefined` above the limit of the key, or above
   * the total limit, which does not apply to known devices.
   */
  enter(key: string, { isKnownDevice }: { isKnownDevice: boolean }): (() => void) | undefined {
    const count = this.#counts.get(key) ?? 0
    if (count >= maxPerKey || (this.#total >= maxTotal && !isKnownDevice)) return undefined
    this.#counts.set(key, count + 1)
    this.#total += 1
    return () => this.#leave(key)
  }

  #leave(key: string): void {
    const count = this.#counts.get(key) ?? 0
    if (count > 1) this.#counts.set(key, count - 1)
    else this.#counts.delete(key)
    this.#total -= 1
  }
}
