import { type ReceivedMail, receiveMails as receive } from './received-mail.ts'
import type { Site } from './site.ts'

/** A mail that a site has sent. */
export interface SiteMail extends ReceivedMail {
  readonly to: string
  readonly subject: string
  /** The token of the link in the mail. Empty without a link. */
  readonly token: string
}

/** Sends the due mails of a site without a mail server, and returns them, oldest first. */
export async function receiveMails(site: Site): Promise<SiteMail[]> {
  return (await receive(site)).map((mail) => {
    const token = /\?token=([\w-]{43})$/m.exec(mail.text)?.[1] ?? ''
    // Only a reset token is a secret. Other links need a session, so the sign-in page may contain their tokens.
    if (mail.text.includes('/reset?token=')) site.secrets.add(token)
    return { ...mail, to: mail.headers.to ?? '', subject: mail.headers.subject ?? '', token }
  })
}

/** Sends the only due mail of a site, and returns it. */
export async function receiveMail(site: Site): Promise<SiteMail> {
  const mails = await receiveMails(site)
  const [mail] = mails
  if (!mail || mails.length > 1) throw new Error(`The site has sent ${mails.length} mails.`)
  return mail
}
