import { parseJsonObject } from '../json-object.ts'
import { decodeBase64url } from './base64url.ts'

/** What counts in the header of a token (RFC 7515 §4.1). */
export interface Header {
  readonly alg: string
  readonly typ?: string | undefined
  readonly kid?: string | undefined
}

// Extensions that we do not have (RFC 7515 §4.1.11, RFC 7797, zipped content), and keys that the sender brings along.
const refused = ['crit', 'b64', 'zip', 'jwk', 'jku', 'x5c', 'x5u']

/** The header in the first part of a token; `undefined` if it is malformed or asks for something that we never do. */
export function parseHeader(encoded: string): Header | undefined {
  const bytes = decodeBase64url(encoded)
  const header = bytes && parseJsonObject(bytes)
  if (!header || refused.some((name) => Object.hasOwn(header, name))) return undefined
  const { alg, typ, kid } = header
  return typeof alg === 'string' && isOptionalString(typ) && isOptionalString(kid)
    ? { alg, typ, kid }
    : undefined
}

/** The first part of a token with this header. */
export function encodeHeader({ alg, typ, kid }: Header): string {
  return Buffer.from(JSON.stringify({ alg, typ, kid })).toString('base64url')
}

/** What a `typ` stands for, in whatever case it is written, with or without `application/` (RFC 7515 §4.1.9). */
export function mediaType(typ: string): string {
  const name = typ.toLowerCase()
  return name.includes('/') ? name : `application/${name}`
}

function isOptionalString(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string'
}
