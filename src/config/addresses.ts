import { isIP } from 'node:net'
import { compile } from 'proxy-addr'
import { splitList, type VariableType } from './environment.ts'

/** The trusted proxies: their number, or their addresses and networks. 0 means none. */
export type TrustProxy = number | readonly string[]

export const proxies: VariableType<TrustProxy> = {
  expected: 'the number of proxies (0 to 9) or their addresses (such as 10.0.0.0/8, ::1)',
  parse(text) {
    if (/^\d$/.test(text)) return Number(text)
    const networks = splitList(text)
    return networks.length > 0 && networks.every(isNetwork) ? networks : undefined
  },
}

export const host: VariableType<string> = {
  expected: 'a host name or an IP address',
  parse: (text) => (isIP(text) > 0 || /^[a-z\d.-]+$/i.test(text) ? text : undefined),
}

export const origin: VariableType<URL> = {
  expected: 'an origin without a path, such as https://example.com',
  parse(text) {
    const url = URL.parse(text)
    // A path, a query or a user name makes the URL longer than its origin.
    const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
    return isOrigin ? url : undefined
  },
}

function isNetwork(entry: string): boolean {
  // proxy-addr also accepts names, netmasks and addresses such as `10` or `0x7f.1`.
  if (isIP(entry.replace(/\/\d{1,3}$/, '')) === 0) return false
  try {
    // Throws for a prefix of 0, which would trust every client.
    return typeof compile(entry) === 'function'
  } catch {
    return false
  }
}
