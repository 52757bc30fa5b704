import type { Environment } from './environment.ts'

/**
 * Reads `RP_ID`, the host that passkeys belong to. By default it is the host of `PUBLIC_URL`. Returns `undefined` without
 * `PUBLIC_URL`, and if browsers have no passkeys at that address.
 */
export function readRpId(environment: Environment, publicUrl: URL | undefined): string | undefined {
  const text = environment.text('RP_ID')?.toLowerCase()
  const host = publicUrl && hasPasskeys(publicUrl) ? publicUrl.hostname : undefined
  if (text === undefined || text === host) return host
  // Browsers also reject a public suffix, such as `co.uk`.
  if (host?.endsWith(`.${text}`) && /^[a-z\d-]+(\.[a-z\d-]+)+$/.test(text)) return text
  environment.reject('RP_ID', 'must be the host of PUBLIC_URL or a parent domain of it, such as example.com')
  return undefined
}

/** Whether browsers have passkeys at an address: `localhost`, or a domain with TLS. An IP address has none. */
export function hasPasskeys({ protocol, hostname }: URL): boolean {
  if (/^(.+\.)?localhost$/.test(hostname)) return true
  return protocol === 'https:' && !/^\[|^[\d.]+$/.test(hostname)
}
