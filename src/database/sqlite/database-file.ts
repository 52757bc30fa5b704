import { realpathSync, statSync } from 'node:fs'

/**
 * The three files of an open SQLite database, by inode. SQLite keeps writing to a file that was moved or deleted. Writes
 * to a deleted file are lost when the process ends.
 */
export class DatabaseFile {
  readonly #inodes: ReadonlyMap<string, string>
  readonly #log: string
  readonly #index: string
  #isInPlace = true
  #checkedAt = 0

  /** @param path of a database that is open in WAL mode and has been read */
  constructor(path: string) {
    // For a symbolic link, SQLite creates the write-ahead log and its index beside the target of the link.
    const file = realpathSync(path)
    this.#log = `${file}-wal`
    this.#index = `${file}-shm`
    this.#inodes = new Map([path, this.#log, this.#index].map((each) => [each, inodeOf(each)]))
  }

  /**
   * Throws if one of the files is missing or was replaced.
   * @param tolerance the age in milliseconds up to which an earlier result is used
   */
  assertInPlace(tolerance = 0): void {
    const now = performance.now()
    if (now - this.#checkedAt >= tolerance) {
      this.#isInPlace = [...this.#inodes.keys()].every((each) => this.#isOriginal(each))
      this.#checkedAt = now
    }
    if (this.#isInPlace) return
    // The code that SQLite uses for this error. In WAL mode, SQLite itself does not detect the error.
    throw Object.assign(new Error('The database file was moved or replaced: put it back, or restart.'), {
      code: 'SQLITE_READONLY_DBMOVED',
    })
  }

  /** Whether the index of the write-ahead log was lost, so that this process cannot see later commits of other processes. */
  hasLostIndex(): boolean {
    return this.#isOriginal(this.#log) && !this.#isOriginal(this.#index)
  }

  #isOriginal(path: string): boolean {
    return inodeOf(path) === this.#inodes.get(path)
  }
}

// `statSync` takes microseconds. An asynchronous call would queue behind bcrypt in the thread pool.
function inodeOf(path: string): string {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false })
  return file ? `${file.dev}:${file.ino}` : 'none'
}
