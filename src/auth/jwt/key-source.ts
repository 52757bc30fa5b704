import { createPublicKey } from 'node:crypto'
import { Misuse, ProviderError } from '../errors.ts'
import { type JsonObject, parseJsonObject } from '../json-object.ts'
import { checkStrength } from './key-strength.ts'
import type { VerifyingKey } from './verify-token.ts'

/** The keys of an issuer could not be loaded. Guards respond with 503. */
class JWTIssuerError extends ProviderError {
  override readonly name = 'JWTIssuerError'
}

const maxBytes = 256 * 1024

/** A function that loads the keys of an issuer. Throws `Misuse` for an address that is not a URL or has no TLS. */
export function keySource(issuer: string, jwksURL: string | undefined, timeLimit: number) {
  const known = jwksURL === undefined ? undefined : secureURL(jwksURL)
  // OpenID Connect Discovery 1.0 §4.1.
  const discovery = known ?? secureURL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  return async (): Promise<readonly VerifyingKey[]> => {
    const signal = AbortSignal.timeout(timeLimit)
    try {
      const url = known ?? (await discover(issuer, discovery, signal))
      const { keys } = await fetchJson(url, signal)
      const usable = Array.isArray(keys) ? keys.flatMap(readIssuerKey) : []
      if (usable.length === 0) throw new Error(`${url} contains no key for signatures.`)
      return usable
    } catch (cause) {
      throw new JWTIssuerError(`The keys of ${issuer} cannot be loaded: ${reasonOf(cause as Error)}`, {
        cause,
      })
    }
  }
}

function reasonOf({ message, cause }: Error): string {
  // The reason of `fetch failed` is in its cause.
  return cause instanceof Error ? `${message} (${cause.message})` : message
}

async function discover(issuer: string, url: URL, signal: AbortSignal): Promise<URL> {
  const { issuer: name, jwks_uri: address } = await fetchJson(url, signal)
  // OpenID Connect Discovery 1.0 §4.3.
  if (name !== issuer) throw new Error(`its \`issuer\` is ${JSON.stringify(name)}.`)
  if (typeof address !== 'string') throw new Error(`${url} contains no \`jwks_uri\`.`)
  return secureURL(address)
}

/** Keys may come without TLS only from this machine, such as from a provider under development. */
function secureURL(text: string): URL {
  const url = URL.parse(text)
  if (url?.protocol === 'https:') return url
  const isLoopback = url && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (url?.protocol === 'http:' && isLoopback) return url
  throw new Misuse(`The keys of an issuer need an address with https, but this one is ${text}.`)
}

async function fetchJson(url: URL, signal: AbortSignal): Promise<JsonObject> {
  const response = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } })
  const chunks: Uint8Array[] = []
  let length = 0
  // Leaving the loop early closes the connection.
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    if (length > maxBytes) throw new Error(`${url} responds with more than ${maxBytes} bytes.`)
    chunks.push(chunk)
  }
  const object = response.status === 200 ? parseJsonObject(Buffer.concat(chunks)) : undefined
  if (object) return object
  throw new Error(`${url} responds with ${response.status} and no JSON object.`)
}

/** A list of one key, or none if it is weak or not for signatures. A set may contain keys for other uses. */
function readIssuerKey(jwk: JsonObject): VerifyingKey[] {
  const { kid, alg, use = 'sig', key_ops: operations = ['verify'] } = jwk ?? {}
  if (use !== 'sig' || !Array.isArray(operations) || !operations.includes('verify')) return []
  try {
    const verifying = createPublicKey({ key: jwk as never, format: 'jwk' })
    checkStrength(verifying)
    return [{ kid, alg, verifying }]
  } catch {
    return []
  }
}
