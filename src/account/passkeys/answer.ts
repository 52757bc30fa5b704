import type { EntityManager } from '@mikro-orm/core'
import { isBase64url } from '../../auth/base64url.ts'
import { type JsonObject, parseJsonObject } from '../../auth/json-object.ts'
import { type Ceremony, consumeChallenge } from './challenges.ts'

/** The response of an authenticator and the client data of the browser. The signature is not verified yet. */
export interface Answer {
  /** The credential id in base64url. */
  readonly id: string
  readonly challenge: string
  /** Whether a page of another origin embeds the page. */
  readonly isEmbedded: boolean
  /** The user handle, of any type. */
  readonly userHandle: unknown
  /** The response. Only its client data was parsed. */
  readonly response: object
}

/**
 * Parses the JSON of a `PublicKeyCredential`, and uses up its challenge before the signature is verified.
 *
 * @returns `undefined` if the JSON is malformed, the page is embedded, or the challenge is not valid for the ceremony
 */
export async function receiveAnswer(
  em: EntityManager,
  key: Buffer,
  credential: string,
  ceremony: Ceremony,
): Promise<Answer | undefined> {
  const answer = parseAnswer(credential)
  if (!answer || !(await consumeChallenge(em, key, answer.challenge, ceremony))) return undefined
  return answer.isEmbedded ? undefined : answer
}

function parseAnswer(credential: string): Answer | undefined {
  const { id, type, response } = parseJsonObject(Buffer.from(credential)) ?? {}
  // A credential id has at most 1023 bytes.
  if (!isBase64url(id) || id.length > 1364 || type !== 'public-key' || !isObject(response)) return undefined
  const { clientDataJSON, userHandle } = response
  if (!isBase64url(clientDataJSON)) return undefined
  const clientData = parseJsonObject(Buffer.from(clientDataJSON, 'base64url'))
  const { challenge, crossOrigin, topOrigin } = clientData ?? {}
  if (typeof challenge !== 'string') return undefined
  // The library accepts `crossOrigin` without `topOrigin`, and accepts both when a passkey is added.
  const isEmbedded = (crossOrigin !== undefined && crossOrigin !== false) || topOrigin !== undefined
  return { id, challenge, isEmbedded, userHandle, response }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
