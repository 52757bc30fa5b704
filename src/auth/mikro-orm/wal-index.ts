import {
  type BigIntStats,
  fstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs'

const length = 48
// Never closed: with any descriptor of a file that a process closes, it loses all its locks on it, SQLite's among them.
const opened: number[] = []

/**
 * The head of the index of SQLite's write-ahead log (https://sqlite.org/walformat.html, "The WAL-Index Header"), which is
 * different after every commit, whichever process made it. SQLite itself looks here to see whether what it has in memory
 * still holds; to look is one read of a page that is in memory already.
 */
export class WalIndex {
  readonly #file: number
  #last = Buffer.alloc(length)
  #next = Buffer.alloc(length)

  private constructor(file: number) {
    this.#file = file
  }

  /** That of the database at this path, which was read from by now; `undefined` unless SQLite looks at the very same file. */
  static of(path: string): WalIndex | undefined {
    // Elsewhere, what is mapped into memory and what is read of a file need not be the same at once.
    if (process.platform !== 'linux') return undefined
    // SQLite keeps it beside the file that a link leads to.
    const index = `${realpathSync(path)}-shm`
    const file = opened.find((each) => isAt(index, each)) ?? open(index)
    return isMapped(file) ? new WalIndex(file) : undefined
  }

  /** Whether anything was committed since this was asked last. */
  hasChanged(): boolean {
    readSync(this.#file, this.#next, 0, length, 0)
    if (this.#next.equals(this.#last)) return false
    const last = this.#last
    this.#last = this.#next
    this.#next = last
    return true
  }
}

function open(path: string): number {
  const file = openSync(path, 'r')
  opened.push(file)
  return file
}

/** Whether the open file is the one at the path, and not one that was there before. */
function isAt(path: string, file: number): boolean {
  const identity = ({ dev, ino }: BigIntStats) => `${dev}:${ino}`
  return identity(statSync(path, { bigint: true })) === identity(fstatSync(file, { bigint: true }))
}

/** Whether this process has the open file in its memory: one that somebody has put into its place since, it has not. */
function isMapped(file: number): boolean {
  const { ino } = fstatSync(file, { bigint: true })
  const path = readlinkSync(`/proc/self/fd/${file}`)
  // Addresses, permissions, offset, device, inode, path (proc_pid_maps(5)).
  return readFileSync('/proc/self/maps', 'utf8')
    .split('\n')
    .some((line) => line.endsWith(` ${path}`) && line.split(/ +/, 5)[4] === `${ino}`)
}
