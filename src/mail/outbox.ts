import { setTimeout as sleep } from 'node:timers/promises'
import type { EntityManager, MikroORM } from '@mikro-orm/core'
import type { Config } from '../config/config.ts'
import { type Logger, loggable } from '../log/log.ts'
import { mailFolder } from './mail-folder.ts'
import { MailQueue, type NewMail, queueMail } from './mail-queue.ts'
import { batchSize, type MailKinds, MailSender, type OutboxOptions } from './mail-sender.ts'
import { MailTemplates } from './mail-templates.ts'
import { smtp } from './smtp.ts'

// In milliseconds.
const defaultPollInterval = 1_000
const stopTimeout = 5_000
// The maximum number of waiting mails, at about 500 bytes each. Above it, `/forgot` and sign-up add no mail.
const maxMails = 100_000

/**
 * Transactional outbox: a feature adds a mail in the transaction of the change that causes the mail, and a background task
 * sends it. No request waits for the mail server, and a committed mail survives the death of the process.
 *
 * A mail has 8 attempts within 23 hours. A rejection of the recipient or the content with 5xx is final. Processes that share a database claim
 * each mail for five minutes. A mail that the mail server has accepted is sent again if the reply of the server is lost. It is also
 * sent again if the process dies, is suspended, or loses the database for minutes, before the row is deleted.
 */
export class Outbox {
  readonly #options: OutboxOptions
  readonly #sender: MailSender
  readonly #queue: MailQueue
  readonly #stopping = new AbortController()
  #finished: Promise<void> | undefined

  constructor(orm: MikroORM, options: OutboxOptions) {
    this.#options = options
    this.#sender = new MailSender(orm, options)
    this.#queue = new MailQueue(orm)
  }

  /** Adds a mail in the transaction of `em`. It is sent at the next poll after the commit. */
  add(em: EntityManager, mail: NewMail): Promise<void> {
    return queueMail(em, mail, this.#options.now?.())
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
    const timer = setTimeout(() => this.#sender.cancel(), stopTimeout)
    await this.#finished
    clearTimeout(timer)
  }

  /** Sends a batch of due mails. Returns their number. */
  sendDue(origin: string): Promise<number> {
    return this.#sender.sendDue(origin)
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
      const { pollInterval = defaultPollInterval } = this.#options
      // Rejects when the outbox stops.
      await sleep(pollInterval, undefined, { signal, ref: false }).catch(() => {})
    }
  }
}

/** Creates the outbox of the configuration. Returns `undefined` if the site sends no mail. */
export function createOutbox(
  orm: MikroORM,
  config: Config,
  { kinds, log }: { kinds: MailKinds; log: Logger },
): Outbox | undefined {
  if (!config.mail) return undefined
  const { from, server, folder } = config.mail
  const logsLinks = config.profile === 'development'
  const deliver = server ? smtp(server, from) : mailFolder(folder, from, { logsLinks })
  return new Outbox(orm, { kinds, deliver, templates: new MailTemplates(config), log })
}
