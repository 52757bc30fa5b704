import { hash } from 'node:crypto'
import type { MikroORM } from '@mikro-orm/core'
import { v7 as uuidv7 } from 'uuid'
import { type LastUses, LookUp } from '#auth/mikro-orm'
import { deleteBatch } from '../../database/delete-batch.ts'
import { deleteBeyond } from '../../database/delete-beyond.ts'
import { Refusal } from '../../refusal.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { lockAccount } from '../../users/lock-account.ts'
import { isOver, lifetime, over } from './session-limits.ts'
import { StoredSession } from './stored-session.ts'

// Until when, in milliseconds, another process has written down what it has noted.
const slack = 5_000

/** How many sessions a user may have: when one more starts, the one that was used least recently ends. */
export const mostSessions = 100

/** What is known of a session when it starts. */
export interface NewSession {
  /** Whether it is to be kept on this device: its limits are longer. */
  readonly isKept: boolean
  /** What the browser says it is. */
  readonly userAgent: string
  /** When the password of its user was set, as whoever signs in has found it. */
  readonly passwordChangedAt?: Date | undefined
}

/** How a store works. */
export interface SessionStoreOptions {
  /** The clock, in milliseconds. */
  readonly now?: () => number
}

type SessionData = Record<string, unknown>

/**
 * koa-session's store in the application's database. A row is inserted when somebody signs in and deleted when they
 * sign out; in between it is only ever updated, so that a request that is still running brings no ended session back.
 */
export class SessionStore {
  readonly #orm: MikroORM
  // With its user, whom the session authenticator finds there.
  readonly #sessions = new LookUp({ model: StoredSession, property: 'digest', relation: 'user' })
  readonly #uses: LastUses<StoredSession>
  readonly #now: () => number

  constructor(orm: MikroORM, uses: LastUses<StoredSession>, { now = Date.now }: SessionStoreOptions = {}) {
    this.#orm = orm
    this.#uses = uses
    this.#now = now
  }

  /**
   * The data of a live session, or `undefined`. That it was used is noted.
   *
   * @param ctx the request, which has its databases
   */
  async get(id: string, ctx: object): Promise<SessionData | undefined> {
    const digest = digestOf(id)
    if (digest === undefined) return undefined
    const found = await this.#sessions.find(ctx, digest)
    return found && this.#use(found)
  }

  #use(found: StoredSession): SessionData | undefined {
    const now = this.#now()
    const { data, kept, createdAt } = found
    // Not even JSON, or none of ours: nobody can tell whose it is.
    if (typeof data !== 'object' || data === null) throw new Error('What this session holds is damaged.')
    const seenAt = this.#uses.of(found) ?? createdAt
    // The purge deletes the row, so that a read never waits for the write lock.
    if (isOver({ kept, createdAt, seenAt }, now)) return undefined
    this.#uses.note(found, now)
    return { ...data, _maxAge: lifetime(kept) }
  }

  /** Starts a session. Only somebody who is signed in has one. */
  async start(
    id: string,
    saved: SessionData,
    { isKept, userAgent, passwordChangedAt }: NewSession,
  ): Promise<void> {
    const { user, ...more } = ownData(saved)
    if (typeof user !== 'string') throw new Error('Only a signed-in user has a session.')
    const now = new Date(this.#now())
    const digest = digestOf(id) ?? ''
    await this.#orm.em.fork().transactional(async (em) => {
      // One that was under way when the password changed must not start behind it.
      if (!(await lockAccount(em, { id: user, passwordChangedAt })))
        throw new Refusal(409, 'You have just been signed out by another request.')
      await em.insert(StoredSession, {
        digest,
        id: uuidv7(),
        user,
        userAgent: userAgent.slice(0, 255),
        data: { user, ...more },
        kept: isKept,
        createdAt: now,
        seenAt: now,
      })
      await deleteBeyond(em, 'sessions', { user, current: digest, most: mostSessions, tie: 'id' })
    })
  }

  /** Saves what changed in a session, if it still exists. */
  async update(id: string, saved: SessionData): Promise<void> {
    await this.#orm.em.fork().nativeUpdate(StoredSession, digestOf(id) ?? '', { data: ownData(saved) })
  }

  /** Deletes a batch of sessions that are over; they count for nobody as it is. Returns how many there were. */
  async purge(most = 500): Promise<number> {
    await this.#uses.write()
    const where = { $or: over(this.#now(), slack) }
    return deleteBatch(this.#orm.em.fork(), StoredSession, { where, key: 'digest' }, most)
  }

  /** Ends a session. */
  async destroy(id: string): Promise<void> {
    const digest = digestOf(id)
    if (digest !== undefined) await this.#orm.em.fork().nativeDelete(StoredSession, digest)
  }
}

/** What is in a session, without the limits that koa-session writes beside it: they are kept here. */
export function ownData({ _expire, _maxAge, ...data }: SessionData): SessionData {
  return data
}

/** Under what the session of a request is stored. One with a password has none: the identifier is a new one then. */
export function currentDigest({ session }: SiteContext): string {
  return digestOf(session.externalKey) ?? ''
}

/** Under what a session is stored. An identifier that is not 256 bits in base64url is not looked up at all. */
export function digestOf(id: string): string | undefined {
  return /^[\w-]{43}$/.test(id) ? hash('sha256', id, 'base64url') : undefined
}
