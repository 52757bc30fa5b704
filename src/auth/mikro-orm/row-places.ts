import { getHeapStatistics } from 'node:v8'

// Places that are neighbours: as few that they are looked at in no time, and as many that hardly ever all are taken.
const neighbours = 8

/**
 * Places for as many entries as it is made for, by their numbers: a set-associative cache. Each number has a place of its own and
 * seven beside it, of which it takes one that is free; where none is, its own, if it was the last to be asked for there.
 */
export class RowPlaces<Entry extends object> {
  readonly #entries: (Entry | undefined)[]
  /** Whose entry each place has: to see that it is another's takes no look at the entry. */
  readonly #numbers: Uint32Array
  /** Who was asked for last, of those whose own place it is. */
  readonly #asked: Uint32Array

  /** @param count how many, a multiple of eight */
  constructor(count: number) {
    this.#entries = new Array(count).fill(undefined)
    this.#numbers = new Uint32Array(count)
    this.#asked = new Uint32Array(count)
  }

  /** How many there are. */
  get count(): number {
    return this.#numbers.length
  }

  /** What is in a place. */
  at(place: number): Entry | undefined {
    return this.#entries[place]
  }

  /** Where the entry of that number is, if it is anywhere. */
  find(number: number): number | undefined {
    const first = this.#first(number)
    for (let place = first; place < first + neighbours; place += 1)
      if (this.#numbers[place] === number) return place
    return undefined
  }

  /** Notes that it is asked for, and tells whether it was already the last that was. */
  ask(number: number): boolean {
    const own = number % this.count
    const isAskedAgain = this.#asked[own] === number
    this.#asked[own] = number
    return isAskedAgain
  }

  /**
   * A place for an entry that has none.
   *
   * @param isAskedAgain what `ask` has told of it
   * @param isLeft whether what is in a place need not stay
   */
  free(number: number, isAskedAgain: boolean, isLeft: (entry: Entry) => boolean): number | undefined {
    const first = this.#first(number)
    for (let place = first; place < first + neighbours; place += 1) {
      const entry = this.#entries[place]
      if (!entry || isLeft(entry)) return place
    }
    return isAskedAgain ? number % this.count : undefined
  }

  put(place: number, number: number, entry: Entry): void {
    this.#numbers[place] = number
    this.#entries[place] = entry
  }

  clear(): void {
    this.#entries.fill(undefined)
    this.#numbers.fill(0)
    this.#asked.fill(0)
  }

  #first(number: number): number {
    const own = number % this.count
    return own - (own % neighbours)
  }
}

/** For how many rows there is room: for those of most sites, and for fewer where V8's heap is small. */
export function room(): number {
  return Math.min(131_072, neighbours * Math.floor(getHeapStatistics().heap_size_limit / 2 ** 18))
}

/** The same whole number for the same value (FNV-1a). The end of a text tells most: digests and identifiers are random there. */
export function numberOf(value: string | number): number {
  if (typeof value === 'number') return value >>> 0
  let number = 0x811c9dc5
  for (let i = Math.max(0, value.length - 10); i < value.length; i += 1)
    number = Math.imul(number ^ value.charCodeAt(i), 0x01000193)
  return number >>> 0
}
