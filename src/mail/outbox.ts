import { setTimeout as sleep } from 'node:timers/promises'
import type { EntityManager, MikroORM } from '@mikro-orm/core'
import { minute, second } from '../durations.ts'
import { type Logger, loggable } from '../log/log.ts'
import { composeMail, type MailKinds } from './mail-kinds.ts'
import { type Mail, MailQueue, maxTries, type NewMail, queueMail } from './mail-queue.ts'
import type { MailTemplates } from './mail-templates.ts'
import { type Deliver, DeliveryError } from './message.ts'

/** How many mails are sent at the same time, each on its own connection. */
const batchSize = 5
const sendTimeout = 20 * second
const stopTimeout = 5 * second
const warnInterval = minute
// The maximum number of waiting mails, at about 500 bytes each. Above it, `/forgot` and sign-up add no mail.
const maxMails = 100_000

interface OutboxOptions {
  readonly kinds: MailKinds
  readonly deliver: Deliver
  readonly templates: MailTemplates
  readonly log: Logger
  readonly now?: () => number
  /** In milliseconds. */
  readonly pollInterval?: number
}

/**
 * Transactional outbox: a feature adds a mail in the transaction of the change that causes the mail, and a background task
 * sends it. No request waits for the mail server, and a committed mail survives the death of the process.
 *
 * A mail has 8 attempts within 23 hours. A rejection of the recipient or the content with 5xx is final. Processes that share a database claim
 * each mail for five minutes. A mail that the mail server has accepted is sent again if the reply of the server is lost. It is also
 * sent again if the process dies, is suspended, or loses the database for minutes, before the row is deleted.
 */
export class Outbox {
  readonly #orm: MikroORM
  readonly #options: OutboxOptions
  readonly #now: () => number
  readonly #queue: MailQueue
  readonly #stopping = new AbortController()
  readonly #cancelling = new AbortController()
  #finished: Promise<void> | undefined
  #warnedAt = 0

  constructor(orm: MikroORM, options: OutboxOptions) {
    this.#orm = orm
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#queue = new MailQueue(orm, this.#now)
  }

  /** Adds a mail in the transaction of `em`. It is sent at the next poll after the commit. */
  add(em: EntityManager, mail: NewMail): Promise<void> {
    return queueMail(em, mail, this.#now())
  }

  /** Whether too many mails wait, for example because the mail server is down. */
  async isFull(limit = maxMails): Promise<boolean> {
    const isFull = await this.#queue.hasAtLeast(limit)
    if (isFull) this.#options.log.warn({ mails: limit }, 'the outbox is full: no link is mailed')
    return isFull
  }

  /** Starts to send mails. `origin` is the origin of the site for links. */
  start(origin: string): void {
    this.#finished ??= this.#run(origin)
  }

  /** Stops sending. Current attempts have five seconds to end. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    const timer = setTimeout(() => this.#cancelling.abort(), stopTimeout)
    await this.#finished
    clearTimeout(timer)
  }

  async #run(origin: string): Promise<void> {
    let isFailing = false
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const sent = await this.sendDue(origin).catch((error: unknown) => {
        if (!isFailing) this.#options.log.warn(loggable(error), 'the outbox cannot use the database')
        return undefined
      })
      isFailing = sent === undefined
      if (sent === batchSize) continue
      const { pollInterval = second } = this.#options
      // Rejects when the outbox stops.
      await sleep(pollInterval, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  /** Sends a batch of due mails. Returns their number. */
  async sendDue(origin: string): Promise<number> {
    const mails = await this.#queue.claim(batchSize)
    const results = await Promise.allSettled(mails.map((mail) => this.#send(mail, origin)))
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    // At most once a minute, because the queue may be long while the mail server is down.
    if (failures.length > 0 && Math.abs(this.#now() - this.#warnedAt) >= warnInterval) {
      this.#warnedAt = this.#now()
      this.#options.log.warn({ mails: failures.length, ...describe(failures[0]) }, 'mails are retried later')
    }
    return mails.length
  }

  /** Throws if the mail is retried later. */
  async #send(mail: Mail, origin: string): Promise<void> {
    const { log } = this.#options
    const fields = { mail: mail.id, kind: mail.kind, user: mail.user?.id, tries: mail.tries }
    try {
      const delivered = await this.#deliver(mail, origin)
      log.info({ ...fields, ...delivered }, delivered ? 'mail sent' : 'mail no longer needed')
    } catch (error) {
      const isFinal = error instanceof DeliveryError && error.isFinal
      if (!isFinal && mail.tries < maxTries) {
        await this.#queue.retryLater(mail)
        throw error
      }
      log.error({ ...fields, ...describe(error) }, 'mail given up')
    }
    await this.#queue.delete(mail)
  }

  /** Returns `undefined` if the mail is no longer needed. */
  async #deliver(mail: Mail, origin: string): Promise<object | undefined> {
    // The claim increments `tries` above the maximum if the row outlives the last attempt, for example after a crash.
    if (mail.tries > maxTries) throw new DeliveryError('ETRIES', { isFinal: true })
    const message = await composeMail(mail, this.#options, { em: this.#orm.em.fork(), origin })
    if (!message) return undefined
    if (this.#queue.hasLostLease(mail)) throw new DeliveryError('ELEASE')
    const signal = AbortSignal.any([this.#cancelling.signal, AbortSignal.timeout(sendTimeout)])
    return this.#options.deliver(message, signal)
  }
}

/** The loggable part of an error, without addresses. */
function describe(error: unknown): object {
  if (!(error instanceof DeliveryError)) return loggable(error)
  return { code: error.code, responseCode: error.responseCode }
}
