import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { Misuse } from './errors.ts'

/** The credentials of `Authorization: Basic` (RFC 7617 §2). */
export interface BasicAuthorization {
  readonly username: string
  readonly password: string
}

/** The credentials of `Authorization: Bearer` (RFC 6750 §2.1). */
export interface BearerAuthorization {
  readonly token: string
}

/** An option of authenticators for an `Authorization` header. */
export interface RealmOptions {
  /** The protection space in the challenge, in printable ASCII (RFC 9110 §11.5): `restricted` by default. */
  readonly realm?: string
}

/** The Basic credentials of a request; `undefined` if they are missing or malformed. Never throws. */
export function basicAuthorization(req: IncomingMessage): BasicAuthorization | undefined {
  const token68 = credentialsOf(req, 'basic')
  if (token68 === undefined) return undefined
  const bytes = Buffer.from(token68, 'base64')
  // Node decodes leniently, so this line rejects an encoding that is not canonical (RFC 4648 §3.5).
  if (bytes.toString('base64') !== token68 || !isUtf8(bytes)) return undefined
  const text = bytes.toString()
  const colon = text.indexOf(':')
  if (colon < 0 || /\p{Cc}/u.test(text)) return undefined
  return { username: text.slice(0, colon), password: text.slice(colon + 1) }
}

/** The bearer token of a request, from the header only (RFC 6750 §5.3); `undefined` if there is none. */
export function bearerAuthorization(req: IncomingMessage): BearerAuthorization | undefined {
  const token = credentialsOf(req, 'bearer')
  return token === undefined ? undefined : { token }
}

/** Formats a text as a quoted-string for a challenge (RFC 9110 §5.6.4). Throws `Misuse` unless it is printable ASCII. */
export function quoted(text: string): string {
  if (typeof text !== 'string' || !/^[ -~]*$/.test(text))
    throw new Misuse(`The \`realm\` must be printable ASCII: a header cannot hold ${JSON.stringify(text)}.`)
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

// RFC 9110 §11.4: auth-scheme, one or more spaces, one token68.
const credentials = {
  basic: /^basic +([\w.~+/-]+=*)$/i,
  bearer: /^bearer +([\w.~+/-]+=*)$/i,
}

function credentialsOf(req: IncomingMessage, scheme: keyof typeof credentials): string | undefined {
  const header = req.headers.authorization
  if (header === undefined) return undefined
  const token68 = credentials[scheme].exec(header)?.[1]
  // Repeated `Authorization` headers are ignored, because Node reads the first and a proxy may have read the second.
  return token68 === undefined || req.headersDistinct.authorization?.length !== 1 ? undefined : token68
}
