import { createRemoteJWKSet, customFetch } from 'jose'
import { Misuse, ProviderError } from '../errors.ts'
import { type JsonObject, parseJsonObject } from '../json-object.ts'
import { isLoopback, readBody } from '../provider-response.ts'

/**
 * The keys of an issuer for `jwtVerify`. jose loads them when they are needed, again for an unknown `kid`, and again after 10 minutes.
 * Calls `onLoad` then. Throws `Misuse` for an address that is not a URL or has no TLS.
 */
export function issuerKeys(
  issuer: string,
  jwksURL: string | undefined,
  timeoutDuration: number,
  onLoad: () => void,
) {
  // OpenID Connect Discovery 1.0 §4.1.
  const url = secureURL(jwksURL ?? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  const load = async (_: string, init: RequestInit): Promise<Response> => {
    try {
      const address = jwksURL === undefined ? await discover(issuer, url, init) : url
      const { keys } = await fetchJson(address, init)
      if (!Array.isArray(keys) || keys.length === 0) throw new Error(`${address} contains no keys.`)
      onLoad()
      return Response.json({ keys })
    } catch (cause) {
      const reason = reasonOf(cause as Error)
      throw new ProviderError(`The keys of ${issuer} cannot be loaded: ${reason}`, { cause })
    }
  }
  return createRemoteJWKSet(url, { timeoutDuration, [customFetch]: load })
}

async function discover(issuer: string, url: URL, init: RequestInit): Promise<URL> {
  const { issuer: name, jwks_uri: address } = await fetchJson(url, init)
  // OpenID Connect Discovery 1.0 §4.3.
  if (name !== issuer) throw new Error(`its \`issuer\` is ${JSON.stringify(name)}.`)
  return secureURL(String(address))
}

function secureURL(text: string): URL {
  const url = URL.parse(text)
  if (url && (url.protocol === 'https:' || isLoopback(url))) return url
  throw new Misuse(`The keys of an issuer need an address with https, but this one is ${text}.`)
}

async function fetchJson(url: URL, init: RequestInit): Promise<JsonObject> {
  const response = await fetch(url, init)
  const object = response.status === 200 ? parseJsonObject(await readBody(response)) : undefined
  if (object) return object
  throw new Error(`${url} responds with ${response.status} and no JSON object.`)
}

function reasonOf({ message, cause }: Error): string {
  // The reason of `fetch failed` is in its cause.
  return cause instanceof Error ? `${message} (${cause.message})` : message
}
