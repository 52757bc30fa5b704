import { isUtf8 } from 'node:buffer'
import type { EntityManager } from '@mikro-orm/core'
import { type Ceremony, consumeChallenge } from './challenges.ts'

/** The response of an authenticator and the client data of the browser. The signature is not verified yet. */
export interface Answer {
  /** The credential id in base64url. */
  readonly id: string
  readonly challenge: string
  /** Whether a page of another origin embeds the page. */
  readonly isEmbedded: boolean
  /** The members of the response. */
  readonly response: Readonly<Record<string, unknown>>
}

/**
 * Parses the JSON of a `PublicKeyCredential`, and uses up its challenge before the signature is verified.
 *
 * @returns `undefined` if the JSON is malformed, the page is embedded, or the challenge is not valid for the ceremony
 */
export async function receiveAnswer(
  em: EntityManager,
  key: Buffer,
  credential: unknown,
  ceremony: Ceremony,
  now: number,
): Promise<Answer | undefined> {
  const answer = parseAnswer(credential)
  if (!answer || !(await consumeChallenge(em, key, answer.challenge, ceremony, now))) return undefined
  return answer.isEmbedded ? undefined : answer
}

/** Whether a value is a string in strict base64url. The bytes then have only one encoding. */
export function isBase64url(value: unknown, maxLength: number): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= maxLength &&
    Buffer.from(value, 'base64url').toString('base64url') === value
  )
}

function parseAnswer(credential: unknown): Answer | undefined {
  const { id, type, response } = parseObject(credential)
  // A credential id has at most 1023 bytes.
  if (!isBase64url(id, 1364) || type !== 'public-key' || !isObject(response)) return undefined
  const { challenge, crossOrigin, topOrigin } = parseClientData(response.clientDataJSON)
  if (typeof challenge !== 'string') return undefined
  // The library accepts `crossOrigin` without `topOrigin`, and accepts both when a passkey is added.
  const isEmbedded = (crossOrigin !== undefined && crossOrigin !== false) || topOrigin !== undefined
  return { id, challenge, isEmbedded, response }
}

function parseClientData(json: unknown): Readonly<Record<string, unknown>> {
  if (!isBase64url(json, 4096)) return {}
  const bytes = Buffer.from(json, 'base64url')
  return isUtf8(bytes) ? parseObject(bytes.toString()) : {}
}

function parseObject(json: unknown): Readonly<Record<string, unknown>> {
  if (typeof json !== 'string') return {}
  try {
    const value: unknown = JSON.parse(json)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
