import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Site } from './site.ts'

/** A mail as its recipient sees it. */
export interface ReceivedMail {
  /** The headers by their names in lower case, with decoded words. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly html: string
}

/** Sends the due mails of a site without a mail server, and takes all mails from its folder, oldest first. */
export async function receiveMails({ outbox, url, config }: Site): Promise<ReceivedMail[]> {
  while (outbox && (await outbox.sendDue(config.publicUrl?.origin ?? url)) > 0);
  const folder = join(config.dataDir, 'mail')
  const files = (await readdir(folder).catch(() => [])).sort().map((name) => join(folder, name))
  const mails: ReceivedMail[] = []
  for (const file of files) {
    mails.push(parseMail(await readFile(file, 'utf8')))
    await rm(file)
  }
  return mails
}

/** Parses a mail with a text and an HTML part (RFC 5322, RFC 2045). */
export function parseMail(raw: string): ReceivedMail {
  const { headers, body } = partOf(raw.replaceAll('\r\n', '\n'))
  const [, boundary = ''] = /boundary="([^"]+)"/.exec(headers['content-type'] ?? '') ?? []
  const parts = body.split(`--${boundary}`).map((each) => partOf(each.replace(/^\n/, '')))
  const content = (type: string) => {
    const part = parts.find((each) => each.headers['content-type']?.startsWith(type))
    return part ? decode(part.body.replace(/\n$/, ''), part.headers['content-transfer-encoding'] ?? '') : ''
  }
  return { headers, text: content('text/plain'), html: content('text/html') }
}

function partOf(text: string) {
  const end = text.indexOf('\n\n')
  const lines = text
    .slice(0, end)
    .replace(/\n[ \t]+/g, ' ')
    .split('\n')
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:]+):\s*(.*)$/.exec(line) ?? []
    headers[name.toLowerCase()] = decodeWords(value)
  }
  return { headers, body: text.slice(end + 2) }
}

function decode(text: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(text, 'base64').toString()
  if (encoding !== 'quoted-printable') return text
  const joined = text.replace(/=\n/g, '')
  return decodeURIComponent(joined.replaceAll('%', '%25').replace(/=([\dA-F]{2})/g, '%$1'))
}

/** Decodes encoded words (RFC 2047). */
function decodeWords(value: string): string {
  return value
    .replace(/\?= =\?/g, '?==?')
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, encoding: string, word: string) =>
      encoding.toLowerCase() === 'b'
        ? decode(word, 'base64')
        : decode(word.replaceAll('_', ' '), 'quoted-printable'),
    )
}
