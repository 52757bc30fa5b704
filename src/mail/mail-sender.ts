import type { EntityManager, MikroORM } from '@mikro-orm/core'
import { type Logger, loggable } from '../log/log.ts'
import { type Mail, MailQueue, maxTries } from './mail-queue.ts'
import type { Link, MailTemplates } from './mail-templates.ts'
import { type Deliver, DeliveryError, type Mails } from './message.ts'

/** How many mails are sent at the same time, each on its own connection. */
export const batchSize = 5
// In milliseconds.
const sendTimeout = 20_000
const warnInterval = 60_000

/** A kind of mail. The templates are `views/mail/<kind>.txt.eta` and `<kind>.html.eta`. */
interface MailKind<Data> {
  /** `MailTemplates` adds “at” and the name of the site. */
  readonly subject: string | ((data: Data) => string)
  /** Creates the one-time link of the mail when it is sent, so that no row contains a usable token. */
  readonly createLink?: CreateLink
}

/** All kinds of mail. */
export type MailKinds = { readonly [Kind in keyof Mails]: MailKind<Mails[Kind]> }

export interface OutboxOptions {
  readonly kinds: MailKinds
  readonly deliver: Deliver
  readonly templates: MailTemplates
  readonly log: Logger
  readonly now?: () => number
  /** In milliseconds. */
  readonly pollInterval?: number
}

/** Creates the link of a mail. Returns `undefined` if the mail is no longer needed. After an error, the mail is retried. */
export type CreateLink = (
  mail: { readonly address: string; readonly userId: string | undefined },
  context: { readonly em: EntityManager; readonly origin: string },
) => Promise<Link | undefined>

/** Renders and sends the due mails of the queue. */
export class MailSender {
  readonly #orm: MikroORM
  readonly #options: OutboxOptions
  readonly #queue: MailQueue
  readonly #cancel = new AbortController()
  #warnedAt = 0

  constructor(orm: MikroORM, options: OutboxOptions) {
    this.#orm = orm
    this.#options = options
    this.#queue = new MailQueue(orm, options.now)
  }

  cancel(): void {
    this.#cancel.abort()
  }

  /** Sends a batch of due mails. Returns their number. */
  async sendDue(origin: string): Promise<number> {
    const mails = await this.#queue.claim(batchSize)
    const results = await Promise.allSettled(mails.map((mail) => this.#send(mail, origin)))
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    if (failures.length > 0) this.#warn(failures)
    return mails.length
  }

  // At most once a minute, because the queue may be long while the mail server is down.
  #warn(failures: readonly unknown[]): void {
    const now = this.#options.now?.() ?? Date.now()
    if (Math.abs(now - this.#warnedAt) < warnInterval) return
    this.#warnedAt = now
    this.#options.log.warn({ mails: failures.length, ...describe(failures[0]) }, 'mails are retried later')
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
    const { id, kind, data, tries } = mail
    // The claim increments `tries` above the maximum if the row outlives the last attempt, for example after a crash.
    if (tries > maxTries) throw new DeliveryError('ETRIES', { isFinal: true })
    const recipient = { address: mail.address, userId: mail.user?.id }
    const { kinds, templates } = this.#options
    const { createLink } = kinds[kind]
    const link = await createLink?.(recipient, { em: this.#orm.em.fork(), origin })
    if (createLink && !link) return undefined
    const to = link?.to ?? mail.address
    // The type `NewMail` ties the data to the kind.
    const subject = subjectOf(kinds, kind, data as Mails[typeof kind])
    const content = templates.render(kind, data, { subject, link, origin, to })
    if (this.#queue.hasLostLease(mail)) throw new DeliveryError('ELEASE')
    const signal = AbortSignal.any([this.#cancel.signal, AbortSignal.timeout(sendTimeout)])
    return this.#options.deliver({ id: `${id}.${tries}`, kind, to, link: link?.url, ...content }, signal)
  }
}

function subjectOf<Kind extends keyof Mails>(kinds: MailKinds, kind: Kind, data: Mails[Kind]): string {
  const { subject } = kinds[kind]
  return typeof subject === 'function' ? subject(data) : subject
}

/** The loggable part of an error, without addresses. */
function describe(error: unknown): object {
  if (!(error instanceof DeliveryError)) return loggable(error)
  return { code: error.code, responseCode: error.responseCode }
}
