import { type BigIntStats, realpathSync, statSync } from 'node:fs'

/**
 * The three files of an open SQLite database, by inode. SQLite keeps writing to a file that was moved or deleted, and
 * those writes are lost when the process ends.
 */
export class DatabaseFile {
  readonly #database: OriginalFile
  readonly #log: OriginalFile
  readonly #index: OriginalFile
  #isInPlace = true
  #checkedAt = 0

  /** @param path of a database that is open in WAL mode and has been read */
  constructor(path: string) {
    // SQLite creates the log and its index beside the target of a symbolic link.
    const file = realpathSync(path)
    this.#database = new OriginalFile(path)
    this.#log = new OriginalFile(`${file}-wal`)
    this.#index = new OriginalFile(`${file}-shm`)
  }

  /**
   * Throws if one of the files is missing or was replaced.
   * @param tolerance the age in milliseconds up to which an earlier result is used
   */
  assertInPlace(tolerance = 0): void {
    const now = performance.now()
    if (now - this.#checkedAt >= tolerance) {
      this.#isInPlace = [this.#database, this.#log, this.#index].every((each) => each.isInPlace())
      this.#checkedAt = now
    }
    if (!this.#isInPlace) throw new DatabaseFileMovedError()
  }

  /** Whether the index of the log was lost, so that this process cannot see commits of other processes in the log. */
  hasLostIndex(): boolean {
    return this.#log.isInPlace() && !this.#index.isInPlace()
  }
}

class OriginalFile {
  readonly #path: string
  readonly #inode: string

  constructor(path: string) {
    this.#path = path
    this.#inode = inodeOf(path)
  }

  isInPlace(): boolean {
    return inodeOf(this.#path) === this.#inode
  }
}

class DatabaseFileMovedError extends Error {
  // SQLite's own code for this error, which SQLite does not detect in WAL mode.
  readonly code = 'SQLITE_READONLY_DBMOVED'

  constructor() {
    super('The file of the database was moved or replaced: put it back, or restart.')
  }
}

// Synchronous, because it takes microseconds and an asynchronous call would queue behind bcrypt in the thread pool.
function inodeOf(path: string): string {
  const file: BigIntStats | undefined = statSync(path, { bigint: true, throwIfNoEntry: false })
  return file ? `${file.dev}:${file.ino}` : 'none'
}
