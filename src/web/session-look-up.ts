import type { MikroORM } from '@mikro-orm/core'
import { type PreparedRead, prepareRead, type ReadOptions } from '#auth/mikro-orm'
import { StoredSession } from './stored-session.ts'

/** What every request with a session wants to know of it. */
export type FoundSession = Pick<StoredSession, 'data' | 'kept' | 'createdAt' | 'seenAt'>

/** What it asks. */
export const statement = 'select data, kept, created_at, seen_at from sessions where digest = ?'

/** Finds a session by its digest: by a prepared statement, or in MikroORM's way where that is not to be had. */
export class SessionLookUp {
  readonly #orm: MikroORM
  readonly #options: ReadOptions
  #read: PreparedRead | undefined

  constructor(orm: MikroORM, options: ReadOptions) {
    this.#orm = orm
    this.#options = options
  }

  async find(digest: string): Promise<FoundSession | undefined> {
    try {
      this.#read ??= await prepareRead(this.#orm, statement, this.#options)
      const row = await this.#read?.get(digest)
      if (this.#read) return row && sessionOf(row)
    } catch {
      // MikroORM finds out what it is, and waits where that helps.
      this.#read = undefined
    }
    return (await this.#orm.em.fork().findOne(StoredSession, digest)) ?? undefined
  }
}

// As the statement asks for them.
function sessionOf([data, kept, createdAt, seenAt]: readonly unknown[]): FoundSession {
  return {
    data: JSON.parse(String(data)),
    kept: Boolean(kept),
    createdAt: new Date(Number(createdAt)),
    seenAt: new Date(Number(seenAt)),
  }
}
