// As often as something has to be asked, to tell what it is worth.
const least = 1_000

/** What a memory is worth that loses everything now and then: where it hardly ever has what it is asked for, it may rest. */
export class Worth {
  readonly #longest: number
  #asks = 0
  #hits = 0
  #rest = 0

  /** @param longest for how many questions it rests at most */
  constructor(longest: number) {
    this.#longest = longest
  }

  /** Whether this question is none for it. */
  isResting(): boolean {
    if (this.#rest === 0) return false
    this.#rest -= 1
    return true
  }

  /** It was asked, and had the answer or not. */
  note(hadIt: boolean): void {
    this.#asks += 1
    if (hadIt) this.#hits += 1
  }

  /** It has lost everything: if it had fewer than one answer in four, it rests for eight times as many questions. */
  judge(): void {
    if (this.#asks < least) return
    if (this.#hits < this.#asks / 4) this.#rest = Math.min(8 * this.#asks, this.#longest)
    this.#asks = 0
    this.#hits = 0
  }
}
