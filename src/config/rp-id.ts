import type { Environment } from './environment.ts'

/**
 * Reads `RP_ID`, the host that passkeys belong to. The default is the host of `PUBLIC_URL`. Returns `undefined` without `PUBLIC_URL`,
 * or if browsers do not support passkeys at that address.
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

/** Whether browsers support passkeys at a URL: `localhost`, or a domain with TLS. They do not support IP addresses. */
export function hasPasskeys({ protocol, hostname }: URL): boolean {
  if (/^(.+\.)?localhost$/.test(hostname)) return true
  return protocol === 'https:' && !/^\[|^[\d.]+$/.test(hostname)
}
