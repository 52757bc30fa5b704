/** Limits how many hold a place under a name at the same time. */
export class Places {
  readonly #taken = new Map<string, number>()

  /** Takes a place under each name, until the result is disposed of. Returns `undefined` if the limit of a name is reached. */
  take(limits: Readonly<Record<string, number>>): Disposable | undefined {
    const names = Object.keys(limits)
    if (Object.entries(limits).some(([name, limit]) => this.#count(name) >= limit)) return undefined
    for (const name of names) this.#taken.set(name, this.#count(name) + 1)
    return {
      [Symbol.dispose]: () => {
        for (const name of names) this.#leave(name)
      },
    }
  }

  #leave(name: string): void {
    const count = this.#count(name) - 1
    if (count > 0) this.#taken.set(name, count)
    else this.#taken.delete(name)
  }

  #count(name: string): number {
    return this.#taken.get(name) ?? 0
  }
}
