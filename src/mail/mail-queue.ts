import { defineEntity, type EntityManager, LockMode, type MikroORM, p } from '@mikro-orm/core'
import { v7 as uuidv7 } from 'uuid'
import { clockSkew, hour, minute, second } from '../durations.ts'
import { User } from '../users/user.ts'
import type { Mails } from './message.ts'

const MailSchema = defineEntity({
  name: 'Mail',
  tableName: 'mails',
  properties: {
    id: p.uuid().primary(),
    kind: p.string().length(40).$type<keyof Mails>(),
    // The only recipient.
    address: p.string().length(254),
    // The data for the template. It contains no secret.
    data: p.json().$type<object>(),
    // The mail is deleted with its user, so the notice of a closed account has no user.
    user: () => p.manyToOne(User).nullable().deleteRule('cascade').index(),
    createdAt: p.datetime(),
    // The time of the next attempt. While a process sends the mail, the end of its lease.
    dueAt: p.datetime().index(),
    // The number of attempts, including the current one.
    tries: p.integer().default(0),
  },
})

/** A mail that is not sent yet. The row is deleted when the mail is sent, given up or no longer needed. */
export class Mail extends MailSchema.class {}

MailSchema.setClass(Mail)

// The pauses after failed attempts. They allow 8 attempts within 23 hours.
const pauses = [30 * second, 2 * minute, 10 * minute, hour, 3 * hour, 6 * hour, 12 * hour]
const longestPause = Math.max(...pauses)
// How long a claim lasts. It allows for a difference between the clocks of two processes.
const lease = clockSkew + 3 * minute

export const maxTries = pauses.length + 1

export type NewMail = {
  [Kind in keyof Mails]: {
    readonly kind: Kind
    readonly to: string
    /** The account. Deleting the account deletes the mail, unless the mail has been sent. */
    readonly userId?: string | undefined
  } & (Mails[Kind] extends undefined ? unknown : { readonly data: Mails[Kind] })
}[keyof Mails]

/**
 * Inserts a mail in the transaction of `em`. Commands call it without an `Outbox`, because the running site
 * sends the mail within seconds.
 */
export async function queueMail(em: EntityManager, mail: NewMail, now = Date.now()): Promise<void> {
  const at = new Date(now)
  await em.insert(Mail, {
    id: uuidv7(),
    kind: mail.kind,
    address: mail.to,
    data: 'data' in mail ? mail.data : {},
    user: mail.userId ?? null,
    createdAt: at,
    dueAt: at,
    tries: 0,
  })
}

/** The rows of the outbox. Several processes may use them at the same time. */
export class MailQueue {
  readonly #orm: MikroORM
  readonly #now: () => number
  // The ids of finished mails whose rows are not deleted yet.
  readonly #finished = new Set<string>()

  constructor(orm: MikroORM, now = Date.now) {
    this.#orm = orm
    this.#now = now
  }

  /** Whether at least this many mails wait. Reads no more rows than that, however many there are. */
  async hasAtLeast(count: number): Promise<boolean> {
    const found = await this.#orm.em
      .fork()
      .find(Mail, {}, { fields: ['id'], filters: false, orderBy: { id: 'asc' }, limit: 1, offset: count - 1 })
    return found.length > 0
  }

  /** The number of mails that wait, and the age of the oldest in milliseconds. */
  async backlog(): Promise<{ count: number; age: number }> {
    const em = this.#orm.em.fork()
    const count = await em.count(Mail, {}, { filters: false })
    // Ids are in the order of time.
    const [oldest] = await em.find(Mail, {}, { filters: false, orderBy: { id: 'asc' }, limit: 1 })
    return { count, age: oldest ? this.#now() - oldest.createdAt.getTime() : 0 }
  }

  /** Claims mails that are due. A claim lasts five minutes. */
  async claim(limit: number): Promise<Mail[]> {
    await this.#deleteFinished()
    const now = this.#now()
    const where = {
      $or: [
        { dueAt: { $lte: new Date(now) } },
        // A wrong clock wrote this due time.
        { dueAt: { $gt: new Date(now + longestPause + clockSkew) } },
      ],
    }
    const em = this.#orm.em.fork()
    // Counts outside of a transaction, because a transaction would lock an SQLite database against other writes.
    if ((await em.count(Mail, where, { filters: false })) === 0) return []
    return em.transactional(async (em) => {
      const mails = await em.find(Mail, where, {
        filters: false,
        orderBy: { dueAt: 'asc', id: 'asc' },
        limit,
        // PostgreSQL skips mails that another process is claiming. SQLite has one writer at a time.
        lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE,
      })
      for (const mail of mails) {
        mail.tries += 1
        mail.dueAt = new Date(now + lease)
      }
      return mails
    })
  }

  /** Whether another process may have claimed the mail, because this process was suspended. */
  hasLostLease(mail: Mail): boolean {
    return this.#now() > mail.dueAt.getTime() - clockSkew
  }

  /** Deletes a mail. Never throws: if the database is unavailable, the next claim deletes the mail. */
  async delete({ id }: Mail): Promise<void> {
    this.#finished.add(id)
    await this.#deleteFinished().catch(() => {})
  }

  async retryLater({ id, tries }: Mail): Promise<void> {
    const dueAt = new Date(this.#now() + (pauses[tries - 1] ?? longestPause))
    // Compares `tries`, because another process may have claimed the mail in the meantime.
    await this.#orm.em.fork().nativeUpdate(Mail, { id, tries }, { dueAt }, { filters: false })
  }

  async #deleteFinished(): Promise<void> {
    const ids = [...this.#finished]
    if (ids.length === 0) return
    await this.#orm.em.fork().nativeDelete(Mail, { id: { $in: ids } }, { filters: false })
    for (const id of ids) this.#finished.delete(id)
  }
}
