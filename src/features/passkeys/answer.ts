import { isUtf8 } from 'node:buffer'
import type { EntityManager } from '@mikro-orm/core'
import { type Ceremony, consumeChallenge } from './challenges.ts'

/** The answer of an authenticator and the claims of the browser. Nothing in it is verified. */
export interface Answer {
  /** The credential id in base64url. */
  readonly id: string
  readonly challenge: string
  /** Whether a page of another site embeds the page. */
  readonly isEmbedded: boolean
  /** The members of the response. */
  readonly response: Readonly<Record<string, unknown>>
}

/**
 * Parses the JSON of a `PublicKeyCredential` and uses up its challenge, whatever the verification decides later.
 *
 * @returns `undefined` if it is malformed, embedded, or if the challenge is not valid for the ceremony
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

/**
 * Runs a verification by the library. It throws errors of many classes for a wrong answer, so every error counts as one.
 * Do not access the database in it.
 */
export async function verified<Result>(
  verify: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  try {
    return await verify()
  } catch {
    return undefined
  }
}

/** A text in strict base64url, so that each value has one spelling. */
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
  // The library accepts `crossOrigin` without `topOrigin`, and both at a registration.
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
