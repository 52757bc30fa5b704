import { Socket } from 'node:net'
import type { NodemailerError } from 'nodemailer'
import type { Mailbox, MailServer } from '../config/mail.ts'
import { compose, type Deliver, DeliveryError, domainOf } from './message.ts'

// In milliseconds. `socketTimeout` only limits the time without data. The caller's signal limits the whole attempt.
const timeouts = {
  dnsTimeout: 5_000,
  connectionTimeout: 5_000,
  greetingTimeout: 5_000,
  socketTimeout: 10_000,
}

/** Delivers by SMTP, with a connection for each mail. Never sends without TLS, except to the same machine. */
export function smtp({ host, port, security, credentials }: MailServer, from: Mailbox): Deliver {
  const options = {
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    // On the same machine there is no network to protect, and certificates are usually self-signed.
    tls: { rejectUnauthorized: security !== 'loopback' },
    name: domainOf(from),
    ...(credentials && { auth: { user: credentials.user, pass: credentials.password }, forceAuth: true }),
    ...timeouts,
  }
  return async (message, signal) => {
    // Loaded with the first mail, because nodemailer would cost time and memory at the start.
    const { createTransport } = await import('nodemailer')
    // nodemailer has no way to abort, but closing its socket ends the attempt.
    const socket = new Socket()
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    const abort = () => reject(new DeliveryError('ETIMEDOUT'))
    signal.addEventListener('abort', abort)
    try {
      if (signal.aborted) throw new DeliveryError('ETIMEDOUT')
      const sent = createTransport({ ...options, socket }).sendMail(compose(message, from))
      await Promise.race([sent, aborted])
      return {}
    } catch (error) {
      socket.destroy()
      throw error instanceof DeliveryError ? error : deliveryError(error)
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }
}

/** Removes nodemailer's error message, because it contains the reply of the server. */
function deliveryError(error: unknown): DeliveryError {
  const { code = 'EUNKNOWN', responseCode, command = '' } = error as NodemailerError
  // A 5xx to the sign-in or to the greeting is a problem of the server or of the configuration, not of the mail.
  const isAboutMail = /^(MAIL FROM|RCPT TO|DATA)/.test(command)
  const isFinal = isAboutMail && responseCode !== undefined && responseCode >= 500
  return new DeliveryError(code, { responseCode, isFinal })
}
