import { type BigIntStats, realpathSync, statSync } from 'node:fs'

/**
 * The files of a database as they were when it was opened. SQLite goes on with a file that was moved or deleted, and
 * all that it writes there is lost when the process ends.
 */
export class DatabaseFile {
  readonly #database: Original
  readonly #log: Original
  readonly #index: Original
  #isInPlace = true
  #lookedAt = 0

  /** @param path of a database that is open, in WAL mode, and was read from */
  constructor(path: string) {
    // SQLite keeps these beside the file that a symbolic link leads to.
    const file = realpathSync(path)
    this.#database = new Original(path)
    this.#log = new Original(`${file}-wal`)
    this.#index = new Original(`${file}-shm`)
  }

  /** Throws if another file, or none, is in the place now, or was when somebody looked so many milliseconds ago. */
  assertInPlace(since = 0): void {
    const now = performance.now()
    if (now - this.#lookedAt >= since) {
      this.#isInPlace = [this.#database, this.#log, this.#index].every((each) => each.isInPlace())
      this.#lookedAt = now
    }
    if (!this.#isInPlace) throw new DatabaseFileGone()
  }

  /** Whether others may have added to the log what this process does not know, for want of the index that they go by. */
  hasLostIndex(): boolean {
    return this.#log.isInPlace() && !this.#index.isInPlace()
  }
}

/** A file as it was, wherever it is now. */
class Original {
  readonly #path: string
  readonly #identity: string

  constructor(path: string) {
    this.#path = path
    this.#identity = identityAt(path)
  }

  isInPlace(): boolean {
    return identityAt(this.#path) === this.#identity
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

// A path takes microseconds to look at, and a promise of it may wait behind bcrypt.
function identityAt(path: string): string {
  const file: BigIntStats | undefined = statSync(path, { bigint: true, throwIfNoEntry: false })
  return file ? `${file.dev}:${file.ino}` : 'none'
}
