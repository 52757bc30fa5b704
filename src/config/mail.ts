import { join } from 'node:path'
import { emailProblem } from '../users/email.ts'
import { nameProblem } from '../users/person-name.ts'
import { host as hostType } from './addresses.ts'
import { decodePercent, type Environment, type VariableType } from './environment.ts'
import type { StorageConfig } from './storage.ts'

/** An address, and a name that may be empty. */
export interface Mailbox {
  readonly name: string
  readonly address: string
}

export interface MailServer {
  readonly host: string
  readonly port: number
  /** `tls`: TLS from the first byte. `starttls`: STARTTLS is required. `loopback`: TLS is optional on the same machine. */
  readonly security: 'tls' | 'starttls' | 'loopback'
  readonly credentials: { readonly user: string; readonly password: string } | undefined
}

/** Reads `SMTP_URL` and `MAIL_FROM`. Without a server, each mail is written to a file in `folder`. Returns `undefined` in production without `SMTP_URL`: the site sends no mail. */
export function readMail(
  environment: Environment,
  { production, dataDir }: Pick<StorageConfig, 'production' | 'dataDir'>,
): { from: Mailbox; server: MailServer | undefined; folder: string } | undefined {
  const server = environment.read('SMTP_URL', smtpUrl, undefined)
  const from = environment.read('MAIL_FROM', mailbox, { name: '', address: 'no-reply@localhost' })
  if (environment.text('SMTP_URL') && !environment.text('MAIL_FROM'))
    environment.reject('MAIL_FROM', `is missing, but SMTP_URL is set. It must be ${mailbox.expected}`)
  if (production && !server) return undefined
  return { server, from, folder: join(dataDir, 'mail') }
}

const smtpUrl: VariableType<MailServer> = {
  expected: 'smtps://USER:PASSWORD@HOST:465 or smtp://USER:PASSWORD@HOST:587, with %40 for @',
  parse(text) {
    const url = URL.parse(text)
    if (!url || !/^smtps?:$/.test(url.protocol) || !/^\/?$/.test(url.pathname + url.search + url.hash))
      return undefined
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
    const isTls = url.protocol === 'smtps:'
    const port = url.port === '' ? (isTls ? 465 : 587) : Number(url.port)
    if (hostType.parse(host) === undefined || port === 0) return undefined
    const [user, password] = [decodePercent(url.username), decodePercent(url.password)]
    // A user without a password is a mistake, and vice versa.
    if (user === undefined || password === undefined || (user === '') !== (password === '')) return undefined
    const security = isTls ? 'tls' : loopback.test(host) ? 'loopback' : 'starttls'
    return { host, port, security, credentials: user === '' ? undefined : { user, password } }
  },
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/i

const mailbox: VariableType<Mailbox> = {
  expected: 'an e-mail address, or a name and an address: Example <no-reply@example.com>',
  parse(text) {
    const [, quoted, plain = '', address = ''] = /^(?:"((?:[^"\\]|\\.)*)"\s*|([^<>]*))<([^<>]*)>$/.exec(
      text,
    ) ?? [text, undefined, '', text]
    const name = quoted?.replace(/\\(.)/g, '$1').trim() ?? plain.trim()
    if (emailProblem(address) || (name !== '' && nameProblem(name))) return undefined
    return { name, address }
  },
}
