import type { Row } from './answer.ts'
import type { Commits } from './commits.ts'
import type { KeyColumn } from './prepared-read.ts'
import { numberOf, RowPlaces, room } from './row-places.ts'
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

// Characters and bytes of all rows together, for each place: those of a token and its user are fewer.
const sizeOfPlace = 512

/**
 * Remembers rows until anything is committed to the database that may have changed them, by whichever process: what was
 * revoked, deleted or changed counts for the very next request. Bounded, by its places and by what is in them. Where so much is
 * committed that it hardly ever has what it is asked for, it rests for a while, and costs hardly anything.
 */
export class RowMemory {
  readonly #commits: Commits
  readonly #changes: readonly Changes[]
  readonly #places: RowPlaces<Remembered>
  #size = 0
  readonly #worth: Worth
  /** The last commit that it knows to have changed everything. */
  #lost: number
  /** Whether nothing of it can be told any more. */
  readonly #isLost = ({ commits }: Remembered) => commits < this.#commits.since

  constructor({ commits, keys, most = room() }: RowMemoryOptions) {
    this.#commits = commits
    this.#changes = keys.map(({ table, key, column }) => ({ changed: commits.changedIn(table, key), column }))
    this.#places = new RowPlaces(most)
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
    let place = this.#places.find(number)
    // Whoever comes for the first time does not pay for a look.
    if (place !== undefined) this.#commits.lookOnceFor(these)
    if (this.#lost !== this.#commits.lost) {
      this.#startAnew()
      place = undefined
    }
    const isAskedAgain = this.#places.ask(number)
    const known = place === undefined ? undefined : this.#rowAt(place, value)
    if (known) return known
    const row = read(value, these)
    // Strangers do not count, who could put it to rest.
    if (!row) return undefined
    this.#worth.note(false)
    this.#keep(place ?? this.#places.free(number, isAskedAgain, this.#isLost), number, value, row)
    return row
  }

  /** The same, but only what is remembered: `undefined` for any other row. */
  known(value: string | number, these: object): Row | undefined {
    const number = numberOf(value)
    const place = this.#places.find(number)
    if (place === undefined) return undefined
    this.#commits.lookOnceFor(these)
    const row = this.#rowAt(place, value)
    if (row) this.#places.ask(number)
    return row
  }

  /** The row at that place, if it is that of the value, and as it was. */
  #rowAt(place: number, value: string | number): Row | undefined {
    const known = this.#places.at(place)
    if (known?.value !== value || !this.#isSame(known)) return undefined
    this.#worth.note(true)
    return known.row
  }

  #isSame(known: Remembered): boolean {
    const { count } = this.#commits
    if (known.commits === count) return true
    if (this.#isLost(known)) return false
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
    const all = this.#size + size - (this.#places.at(place)?.size ?? 0)
    if (all > this.#places.count * sizeOfPlace) return
    this.#size = all
    this.#places.put(place, number, { value, row, size, commits: this.#commits.count })
  }

  #startAnew(): void {
    this.#lost = this.#commits.lost
    this.#places.clear()
    this.#size = 0
    this.#worth.judge()
  }
}

function sizeOf(row: Row): number {
  let size = 0
  for (const each of row) if (typeof each === 'string' || each instanceof Uint8Array) size += each.length
  return size
}
