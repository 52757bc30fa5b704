import type { Logger } from '../log/log.ts'
import type { MailQueue } from './mail-queue.ts'

// How long a result is used, in milliseconds.
const validity = 10_000

interface Limit {
  readonly maxMails: number
  readonly log: Logger
  readonly now?: () => number
}

/** Limits the waiting mails, without counting them at each mail: it asks the database at most every ten seconds. */
export class OutboxLimit {
  readonly #queue: Pick<MailQueue, 'hasAtLeast'>
  readonly #limit: Limit
  readonly #now: () => number
  #isFull = false
  #checkedAt = Number.NEGATIVE_INFINITY

  constructor(queue: Pick<MailQueue, 'hasAtLeast'>, limit: Limit) {
    this.#queue = queue
    this.#limit = limit
    this.#now = limit.now ?? (() => performance.now())
  }

  async isFull(): Promise<boolean> {
    const now = this.#now()
    if (Math.abs(now - this.#checkedAt) < validity) return this.#isFull
    const { maxMails, log } = this.#limit
    const isFull = await this.#queue.hasAtLeast(maxMails)
    if (isFull && !this.#isFull) log.warn({ mails: maxMails }, 'the outbox is full: no reset link is mailed')
    this.#isFull = isFull
    this.#checkedAt = now
    return isFull
  }
}
