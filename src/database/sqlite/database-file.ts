import { type BigIntStats, realpathSync, statSync } from 'node:fs'

/**
 * The files of a database as they were when it was opened. SQLite goes on with a file that was moved or deleted, and
 * all that it writes there is lost when the process ends.
 */
export class DatabaseFile {
  readonly #paths: readonly string[]
  readonly #identity: string
  #isInPlace = true
  #lookedAt = 0

  /** @param path of a database that is open, in WAL mode, and was read from */
  constructor(path: string) {
    // SQLite keeps the log beside the file that a symbolic link leads to.
    this.#paths = [path, `${realpathSync(path)}-wal`]
    this.#identity = this.#look()
  }

  /** Throws if another file, or none, is in the place now, or was when somebody looked so many milliseconds ago. */
  assertInPlace(since = 0): void {
    const now = performance.now()
    if (now - this.#lookedAt >= since) {
      this.#isInPlace = this.#look() === this.#identity
      this.#lookedAt = now
    }
    if (!this.#isInPlace) throw new DatabaseFileGone()
  }

  // A path takes microseconds to look at, and a promise of it may wait behind bcrypt.
  #look(): string {
    return this.#paths
      .map((path) => identityOf(statSync(path, { bigint: true, throwIfNoEntry: false })))
      .join()
  }
}

/** The database was moved, deleted or replaced under a process that has it open. */
class DatabaseFileGone extends Error {
  // SQLite's own name for it, which it finds out about in other modes than WAL.
  readonly code = 'SQLITE_READONLY_DBMOVED'

  constructor() {
    super('The file of the database is not where it was: put it back, or start again.')
  }
}

function identityOf(file: BigIntStats | undefined): string {
  return file ? `${file.dev}:${file.ino}` : 'none'
}
