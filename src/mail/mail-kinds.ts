import type { EntityManager } from '@mikro-orm/core'
import type { Mail } from './mail-queue.ts'
import type { Link, MailTemplates } from './mail-templates.ts'
import type { Mails, Message } from './message.ts'

/** A kind of mail. The templates are `views/mail/<kind>.txt.eta` and `<kind>.html.eta`. */
interface MailKind<Data> {
  /** `MailTemplates` adds “at” and the name of the site. */
  readonly subject: string | ((data: Data) => string)
  /** Creates the one-time link of the mail when it is sent, so that no row contains a usable token. */
  readonly createLink?: CreateLink
}

/** All kinds of mail. */
export type MailKinds = { readonly [Kind in keyof Mails]: MailKind<Mails[Kind]> }

/** Creates the link of a mail. Returns `undefined` if the mail is no longer needed. After an error, the mail is retried. */
export type CreateLink = (
  mail: { readonly address: string; readonly userId: string | undefined },
  context: { readonly em: EntityManager; readonly origin: string },
) => Promise<Link | undefined>

/** Renders a waiting mail with a new link. Returns `undefined` if the mail is no longer needed. */
export async function composeMail(
  { id, kind, data, address, user, tries }: Mail,
  { kinds, templates }: { readonly kinds: MailKinds; readonly templates: MailTemplates },
  context: { readonly em: EntityManager; readonly origin: string },
): Promise<Message | undefined> {
  const { createLink, subject } = kinds[kind]
  const link = await createLink?.({ address, userId: user?.id }, context)
  if (createLink && !link) return undefined
  const to = link?.to ?? address
  // The type `NewMail` ties the data to the kind.
  const heading = typeof subject === 'function' ? subject(data as never) : subject
  const content = templates.render(kind, data, { subject: heading, link, origin: context.origin, to })
  return { id: `${id}.${tries}`, kind, to, link: link?.url, ...content }
}
