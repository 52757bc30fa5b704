import type { MikroORM } from '@mikro-orm/core'
import { v7 as uuidv7 } from 'uuid'
import { type LastUses, LookUp } from '#auth/mikro-orm'
import { deleteBatch } from '../../database/delete-batch.ts'
import { digestOf } from '../../database/identifier.ts'
import { Refusal } from '../../refusal.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { deleteBeyond, lockAccount, type User } from '../../users/user.ts'
import { expiredSessions, isExpired, limits, StoredSession } from './stored-session.ts'

// The longest delay until another process has written a use of a session, in milliseconds.
const writeDelay = 5_000

/** The maximum number of sessions of a user. A further session replaces the least recently used one. */
const maxSessions = 100

interface NewSession {
  readonly isKept: boolean
  readonly userAgent: string
  /** The IP address of the client. */
  readonly address: string
  /** The account as it was when the user signed in. */
  readonly account?: Pick<User, 'credentialsVersion' | 'secondFactorAt'> | undefined
  /** How the user signed in (RFC 8176). */
  readonly methods?: readonly string[] | undefined
  /** The identifier of the session that the new session replaces. If the old session has ended, `start` throws 409. */
  readonly replaces?: string | undefined
}

type SessionData = Record<string, unknown>

/**
 * The store of koa-session in the database. A row is inserted when the session starts, then only updated, so that a concurrent request
 * cannot restore an ended session.
 */
export class SessionStore {
  readonly #orm: MikroORM
  // Loads the user too, for the session authenticator.
  readonly #sessions = new LookUp({ model: StoredSession, property: 'digest', relation: 'user' })
  readonly #uses: LastUses<StoredSession>
  readonly #now: () => number

  /** @param now the clock, in milliseconds */
  constructor(orm: MikroORM, uses: LastUses<StoredSession>, now = Date.now) {
    this.#orm = orm
    this.#uses = uses
    this.#now = now
  }

  /** Returns the data of a session and records its use. Returns `undefined` if the session has ended. */
  async get(id: string, ctx: object): Promise<SessionData | undefined> {
    const found = await this.#sessions.find(ctx, digestOf(id))
    if (!found) return undefined
    const now = this.#now()
    const { data, kept, createdAt } = found
    if (typeof data !== 'object' || data === null) throw new Error('The data of this session is damaged.')
    const seenAt = this.#uses.of(found) ?? createdAt
    // Leaves the row to the purge, because a read must not wait for the write lock.
    if (isExpired({ kept, createdAt, seenAt }, now)) return undefined
    this.#uses.note(found, now)
    return { ...data, _maxAge: (kept ? limits.kept : limits.usual).absolute }
  }

  /**
   * Starts a session.
   *
   * @throws {Refusal} 409 if the credentials have changed since the sign-in
   * @throws {Error} without a user, or if an account with a second factor signs in without the method `mfa`. The second check protects
   * against a future sign-in route that does not ask for the code
   */
  async start(
    id: string,
    saved: SessionData,
    { isKept, userAgent, address, account, methods = [], replaces }: NewSession,
  ): Promise<void> {
    const { user, ...more } = ownData(saved)
    if (typeof user !== 'string') throw new Error('Only a signed-in user has a session.')
    const now = new Date(this.#now())
    const digest = digestOf(id)
    await this.#orm.em.fork().transactional(async (em) => {
      const { credentialsVersion } = account ?? {}
      if (!(await lockAccount(em, { id: user, credentialsVersion }))) throw signedOut()
      const replaced = replaces !== undefined && { digest: digestOf(replaces), user }
      if (replaced && (await em.nativeDelete(StoredSession, replaced)) !== 1) throw signedOut()
      // If the set-up of an app has ended the replaced session, the check above responds with 409 first.
      if (account?.secondFactorAt && !methods.includes('mfa'))
        throw new Error('The sign-in of a user with a second factor must use it.')
      await em.insert(StoredSession, {
        digest,
        id: uuidv7(),
        user,
        userAgent: userAgent.slice(0, 255),
        address: address.slice(0, 45),
        data: { user, ...more },
        kept: isKept,
        createdAt: now,
        seenAt: now,
      })
      await deleteBeyond(em, StoredSession, { user, current: digest, limit: maxSessions })
    })
  }

  /** Saves the data of a session, if it still exists. */
  async update(id: string, saved: SessionData): Promise<void> {
    await this.#orm.em.fork().nativeUpdate(StoredSession, digestOf(id), { data: ownData(saved) })
  }

  /** Deletes a batch of expired sessions. Returns their number. */
  async purge(limit = 500): Promise<number> {
    await this.#uses.write()
    const expired = expiredSessions(this.#now(), writeDelay)
    return deleteBatch(this.#orm.em.fork(), StoredSession, expired, limit)
  }

  /** Ends a session. */
  async destroy(id: string): Promise<void> {
    await this.#orm.em.fork().nativeDelete(StoredSession, digestOf(id))
  }
}

/** The data of a session without the limits of koa-session. */
export function ownData({ _expire, _maxAge, ...data }: SessionData): SessionData {
  return data
}

/** The digest of the request's session. If the request contains credentials, its session is not read, and the digest matches no session. */
export function currentDigest({ session }: SiteContext): string {
  return session.externalKey ? digestOf(session.externalKey) : ''
}

/** 409 for a request whose session has ended. */
export function signedOut(): Refusal {
  return new Refusal(409, 'Another request has just signed you out.')
}
