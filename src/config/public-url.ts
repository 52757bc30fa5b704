import { origin } from './addresses.ts'
import { type Environment, wholeNumber } from './environment.ts'
import { readStorage } from './storage.ts'

export function readPort(environment: Environment): number {
  return environment.read('PORT', wholeNumber(0, 65_535), 3000)
}

/** Reads `PUBLIC_URL`, which production requires. */
export function readPublicUrl(environment: Environment, production: boolean): URL | undefined {
  if (production && environment.text('PUBLIC_URL') === undefined)
    environment.reject('PUBLIC_URL', `must be set in production to ${origin.expected}`)
  return environment.read('PUBLIC_URL', origin, undefined)
}

/** Replaces 127.0.0.1 with `localhost`. The readable log and the mails must name the same host, because a session cookie belongs to one host. */
export function developmentUrl(url: string): string {
  return url.replace('//127.0.0.1', '//localhost')
}

/** Reads the origin of the links that commands print. Except in production, the default is a server on this machine. */
export function readLinkOrigin(environment: Environment): string {
  const publicUrl = readPublicUrl(environment, readStorage(environment).production)
  return publicUrl?.origin ?? `http://localhost:${readPort(environment)}`
}

/**
 * Reads `RP_ID`, the host that passkeys belong to. The default is the host of `PUBLIC_URL`. Returns `undefined` without `PUBLIC_URL`,
 * or if browsers do not support passkeys at that URL.
 */
export function readRpId(environment: Environment, publicUrl: URL | undefined): string | undefined {
  const text = environment.text('RP_ID')?.toLowerCase()
  const host = publicUrl && hasPasskeys(publicUrl) ? publicUrl.hostname : undefined
  if (text === undefined || text === host) return host
  // A public suffix such as `co.uk` is accepted here, but browsers reject it.
  if (host?.endsWith(`.${text}`) && /^[a-z\d-]+(\.[a-z\d-]+)+$/.test(text)) return text
  environment.reject('RP_ID', 'must be the host of PUBLIC_URL or a parent domain of it, such as example.com')
  return undefined
}

/** Whether browsers support passkeys at a URL: `localhost`, or a domain with TLS. They do not support IP addresses. */
export function hasPasskeys({ protocol, hostname }: URL): boolean {
  if (/^(.+\.)?localhost$/.test(hostname)) return true
  return protocol === 'https:' && !/^\[|^[\d.]+$/.test(hostname)
}
