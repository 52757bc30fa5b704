import { getHeapStatistics } from 'node:v8'
import type { Row } from './answer.ts'
import type { Commits } from './commits.ts'
import type { KeyColumn } from './prepared-read.ts'
import { Worth } from './worth.ts'

/** How a row memory is made. */
export interface RowMemoryOptions {
  /** What was committed to the database that the rows are read from. */
  readonly commits: Commits
  /** The tables that they are read from. */
  readonly keys: readonly KeyColumn[]
  /** How many rows it holds, a multiple of eight. */
  readonly most?: number
}

interface Remembered {
  readonly value: string | number
  readonly row: Row
  readonly size: number
  /** How many commits were seen when it was known to be as it is. */
  commits: number
}

/** The rows of a table that were changed, and in which column of a remembered row the key of its own is. */
interface Changes {
  readonly changed: ReadonlyMap<unknown, number> | undefined
  readonly column: number
}

// Places that are neighbours: as few that they are looked at in no time, and as many that hardly ever all are taken.
const neighbours = 8
// Characters and bytes of all rows together, for each place: those of a token and its user are fewer.
const sizeOfPlace = 512

/**
 * Remembers rows until anything is committed to the database that may have changed them, by whichever process: what was
 * revoked, deleted or changed counts for the very next request. Bounded: each value has one place and seven beside it, of
 * which it takes one that is free; where none is, its own, when it is asked for again before any other of that place is, so that
 * rows that nobody asks for again need not be collected. Where so much is committed that it hardly ever has what it is asked for,
 * it rests for a while, and costs hardly anything.
 */
export class RowMemory {
  readonly #commits: Commits
  readonly #changes: readonly Changes[]
  readonly #places: (Remembered | undefined)[]
  /** Which value has each place, by its number: to see that it is another takes no look at a row. */
  readonly #held: Uint32Array
  /** Which value was asked for last in each place, by its number. */
  readonly #asked: Uint32Array
  #size = 0
  readonly #worth: Worth
  /** The last commit that it knows to have changed everything. */
  #lost: number

  constructor({ commits, keys, most = room() }: RowMemoryOptions) {
    this.#commits = commits
    this.#changes = keys.map(({ table, key, column }) => ({ changed: commits.changedIn(table, key), column }))
    this.#places = new Array(most).fill(undefined)
    this.#held = new Uint32Array(most)
    this.#asked = new Uint32Array(most)
    this.#worth = new Worth(most)
    this.#lost = commits.lost
  }

  /**
   * The row for that value, as it was read or as `read` reads it now. Nobody is not remembered: strangers could fill it.
   *
   * @param these all who are told together with this one; nobody else, unless they are given
   */
  row<Value extends string | number>(
    value: Value,
    read: (value: Value, these: object) => Row | undefined,
    these: object = {},
  ): Row | undefined {
    if (this.#worth.isResting()) return read(value, these)
    const number = numberOf(value)
    const own = number % this.#places.length
    let place = this.#placeOf(number, own)
    // Whoever comes for the first time does not pay for a look.
    if (place !== undefined) this.#commits.lookOnceFor(these)
    if (this.#lost !== this.#commits.lost) {
      this.#startAnew()
      place = undefined
    }
    const isAskedAgain = this.#asked[own] === number
    this.#asked[own] = number
    const known = place === undefined ? undefined : this.#rowAt(place, value)
    if (known) return known
    const row = read(value, these)
    // Strangers do not count, who could put it to rest.
    if (!row) return undefined
    this.#worth.note(false)
    this.#keep(place ?? this.#freePlace(own) ?? (isAskedAgain ? own : undefined), number, value, row)
    return row
  }

  /** The same, but only what is remembered: `undefined` for any other row. */
  known(value: string | number, these: object): Row | undefined {
    const number = numberOf(value)
    const own = number % this.#places.length
    const place = this.#placeOf(number, own)
    if (place === undefined) return undefined
    this.#commits.lookOnceFor(these)
    const row = this.#rowAt(place, value)
    if (row) this.#asked[own] = number
    return row
  }

  /** The row at that place, if it is that of the value, and as it was. */
  #rowAt(place: number, value: string | number): Row | undefined {
    const known = this.#places[place]
    if (known?.value !== value || !this.#isSame(known)) return undefined
    this.#worth.note(true)
    return known.row
  }

  #isSame(known: Remembered): boolean {
    const { count, since } = this.#commits
    if (known.commits === count) return true
    if (known.commits < since) return false
    for (const { changed, column } of this.#changes) {
      const key = known.row[column]
      // Each blob is an object of its own, whatever is in it.
      if (!changed || key instanceof Uint8Array || (changed.get(key) ?? 0) > known.commits) return false
    }
    known.commits = count
    return true
  }

  #keep(place: number | undefined, number: number, value: string | number, row: Row): void {
    if (place === undefined) return
    const size = sizeOf(row)
    const all = this.#size + size - (this.#places[place]?.size ?? 0)
    if (all > this.#places.length * sizeOfPlace) return
    this.#size = all
    this.#held[place] = number
    this.#places[place] = { value, row, size, commits: this.#commits.count }
  }

  #startAnew(): void {
    this.#lost = this.#commits.lost
    this.#places.fill(undefined)
    this.#held.fill(0)
    this.#asked.fill(0)
    this.#size = 0
    this.#worth.judge()
  }

  /** Where the value of that number is, if it is anywhere. */
  #placeOf(number: number, own: number): number | undefined {
    const first = own - (own % neighbours)
    for (let place = first; place < first + neighbours; place += 1)
      if (this.#held[place] === number) return place
    return undefined
  }

  /** Its own place or one beside it, where nothing is, or nothing that still holds. */
  #freePlace(own: number): number | undefined {
    const first = own - (own % neighbours)
    for (let place = first; place < first + neighbours; place += 1)
      if ((this.#places[place]?.commits ?? -1) < this.#commits.since) return place
    return undefined
  }
}

/** For how many rows there is room: for those of most sites, and for fewer where V8's heap is small. */
function room(): number {
  return Math.min(131_072, neighbours * Math.floor(getHeapStatistics().heap_size_limit / 2 ** 18))
}

function sizeOf(row: Row): number {
  let size = 0
  for (const each of row) if (typeof each === 'string' || each instanceof Uint8Array) size += each.length
  return size
}

/** The same whole number for the same value (FNV-1a). The end of a text tells most: digests and identifiers are random there. */
function numberOf(value: string | number): number {
  if (typeof value === 'number') return value >>> 0
  let number = 0x811c9dc5
  for (let i = Math.max(0, value.length - 10); i < value.length; i += 1)
    number = Math.imul(number ^ value.charCodeAt(i), 0x01000193)
  return number >>> 0
}
