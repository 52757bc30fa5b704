import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { type Certified, selfSigned } from './certificate.ts'
import { parseMail, type ReceivedMail } from './received-mail.ts'

interface Test {
  after(run: () => Promise<void>): void
}

interface AcceptedMail extends ReceivedMail {
  readonly from: string
  /** The recipients of the envelope. */
  readonly to: readonly string[]
  readonly isEncrypted: boolean
  readonly user: string | undefined
  readonly raw: string
}

export interface MailServerOptions {
  /** `tls` from the first byte, `starttls` (the default), or `none`. */
  readonly security?: 'tls' | 'starttls' | 'none'
  /** If given, the server requires them. */
  readonly credentials?: { readonly user: string; readonly password: string }
  readonly port?: number
  readonly certificate?: Certified
}

const certificate = selfSigned()

/** A real SMTP server on loopback. */
export async function startMailServer(test: Test, options: MailServerOptions = {}) {
  const { security = 'starttls', credentials, certificate: own = certificate } = options
  const mails: AcceptedMail[] = []
  /** The replies to MAIL FROM, RCPT TO and DATA: a status code, and perhaps an enhanced one. 250 accepts. A test may change them. */
  const replies: Record<'sender' | 'recipient' | 'data', number | `${number} ${string}`> = {
    sender: 250,
    recipient: 250,
    data: 250,
  }
  /** Called when the content of a mail arrives, before the reply. */
  const hooks = { onData: async () => {} }
  const attempts = { count: 0 }
  const settings: SMTPServerOptions = {
    ...own,
    secure: security === 'tls',
    disabledCommands: [...(security === 'starttls' ? [] : ['STARTTLS']), ...(credentials ? [] : ['AUTH'])],
    // The site sends from loopback, so a reverse DNS look-up is useless.
    disableReverseLookup: true,
    // A reply of a test has its own.
    hideENHANCEDSTATUSCODES: true,
    authOptional: !credentials,
    allowInsecureAuth: false,
    onAuth({ username, password }, _session, done) {
      const isRight = username === credentials?.user && password === credentials?.password
      if (isRight) done(null, { user: username })
      else done(refusal(535, 'wrong'))
    },
    onMailFrom(_address, _session, done) {
      attempts.count += 1
      done(problem(replies.sender))
    },
    onRcptTo: (_address, _session, done) => done(problem(replies.recipient)),
    async onData(stream, { envelope, secure, user }, done) {
      // A killed client sends only a part of its mail.
      const raw = await text(stream).catch(() => undefined)
      if (raw === undefined) return
      await hooks.onData()
      if (replies.data !== 250) return done(problem(replies.data))
      const { mailFrom, rcptTo } = envelope
      mails.push({
        ...parseMail(raw),
        from: mailFrom ? mailFrom.address : '',
        to: rcptTo.map(({ address }) => address),
        isEncrypted: secure,
        user: typeof user === 'string' ? user : undefined,
        raw,
      })
      done()
    },
  }
  const server = new SMTPServer(settings)
  // Some tests disconnect clients.
  server.on('error', () => {})
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()))
  test.after(stop)
  return { port, mails, replies, hooks, attempts, stop, certificate: own }
}

function problem(reply: number | string): Error | null {
  const [code = '', enhanced = ''] = String(reply).split(' ')
  const text = 'refused <ada@example.com> on a hostile\r\nline'
  return reply === 250 ? null : refusal(Number(code), `${enhanced} ${text}`.trim())
}

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode })
}
