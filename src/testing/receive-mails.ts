import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseMail, type ReceivedMail } from './received-mail.ts'
import type { Site } from './site.ts'

/** A mail that a site has sent. */
export interface SiteMail extends ReceivedMail {
  readonly to: string
  readonly subject: string
  /** The token of the link in the text. */
  readonly token: string
  readonly raw: string
}

/** Sends the due mails of a site, and returns them in the order of their requests. */
export async function receiveMails(site: Site): Promise<SiteMail[]> {
  const folder = join(site.config.dataDir, 'mail')
  while (((await site.outbox?.sendDue(site.url)) ?? 0) > 0);
  const files = await readdir(folder).catch(() => [])
  return Promise.all(files.sort().map((file) => read(site, join(folder, file))))
}

/** Sends the due mails of a site, and returns the only one. */
export async function receiveMail(site: Site): Promise<SiteMail> {
  const mails = await receiveMails(site)
  const [mail] = mails
  if (!mail || mails.length > 1) throw new Error(`The site has sent ${mails.length} mails.`)
  return mail
}

async function read(site: Site, path: string): Promise<SiteMail> {
  const raw = await readFile(path, 'utf8')
  await rm(path)
  const mail = parseMail(raw)
  const token = /\?token=([\w-]{43})$/m.exec(mail.text)?.[1] ?? ''
  // No response and no line of the log may contain it.
  if (token !== '') site.secrets.add(token)
  return { ...mail, to: mail.headers.to ?? '', subject: mail.headers.subject ?? '', token, raw }
}
