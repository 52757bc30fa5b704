import type { Row } from './prepared-read.ts'

/** What is known of the database that rows are read from. */
interface Watch {
  /** Whether anything that was read may be different by now. */
  hasChanged(): boolean
  /** Whether what is read now is how it is now: as long as another statement is open, it is how it was then. */
  isCurrent(): boolean
}

interface Remembered {
  readonly value: string | number
  readonly row: Row
  /** How often something had been committed by then. */
  readonly commits: number
}

// Places that are neighbours: as few that they are looked at in no time, and as many that hardly ever all are taken.
const neighbours = 8

/**
 * Remembers rows until anything at all is committed to the database, by whichever process: what was revoked, deleted or
 * changed counts for the very next request. Bounded: each value has one place, which it takes when it is asked for again
 * before any other of that place is, so that rows that nobody asks for again need not be collected; and as long as one of
 * the places beside it is free, it takes that.
 */
export class RowMemory {
  readonly #watch: Watch
  readonly #places: (Remembered | undefined)[]
  /** Which value has each place, by its number: to see that it is another takes no look at a row. */
  readonly #held: Uint32Array
  /** Which value was asked for last in each place, by its number. */
  readonly #asked: Uint32Array
  #commits = 0

  /** @param most how many rows it holds, a multiple of eight */
  constructor(watch: Watch, most = 20_000) {
    this.#watch = watch
    this.#places = new Array(most).fill(undefined)
    this.#held = new Uint32Array(most)
    this.#asked = new Uint32Array(most)
  }

  /** The row for that value, as it was read or as `read` reads it now. Nobody is not remembered: strangers could fill it. */
  row<Value extends string | number>(value: Value, read: (value: Value) => Row | undefined): Row | undefined {
    const number = numberOf(value)
    const own = number % this.#places.length
    const place = this.#placeOf(number, own)
    const known = place === undefined ? undefined : this.#places[place]
    const isAskedAgain = this.#asked[own] === number
    this.#asked[own] = number
    // The watch is looked at for what is still as it was read: whatever is here was read since, or was right then.
    if (known?.value === value && known.commits === this.#commits) {
      if (!this.#watch.hasChanged()) return known.row
      this.#commits += 1
    }
    const row = read(value)
    if (row && isAskedAgain && this.#watch.isCurrent()) {
      const taken = place ?? this.#freePlace(own)
      this.#places[taken] = { value, row, commits: this.#commits }
      this.#held[taken] = number
    }
    return row
  }

  /** Where the value of that number is, if it is anywhere. */
  #placeOf(number: number, own: number): number | undefined {
    const first = own - (own % neighbours)
    for (let place = first; place < first + neighbours; place += 1)
      if (this.#held[place] === number) return place
    return undefined
  }

  /** A place beside its own where nothing is, or nothing that still holds; else its own. */
  #freePlace(own: number): number {
    const first = own - (own % neighbours)
    for (let place = first; place < first + neighbours; place += 1)
      if (this.#places[place]?.commits !== this.#commits) return place
    return own
  }
}

/** The same whole number for the same value (FNV-1a). The end of a text tells most: digests and identifiers are random there. */
function numberOf(value: string | number): number {
  if (typeof value === 'number') return value >>> 0
  let number = 0x811c9dc5
  for (let i = Math.max(0, value.length - 10); i < value.length; i += 1)
    number = Math.imul(number ^ value.charCodeAt(i), 0x01000193)
  return number >>> 0
}
