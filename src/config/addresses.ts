import { BlockList, isIP } from 'node:net'
import { type Kind, splitList } from './environment.ts'

/** The proxies whose `X-Forwarded-…` headers count: how many stand in front, or their addresses. 0 means none. */
export type TrustProxy = number | BlockList

export const proxies: Kind<TrustProxy> = {
  takes: 'a number of proxies (0 to 9) or their addresses (such as 10.0.0.0/8, ::1)',
  parse(text) {
    if (/^\d$/.test(text)) return Number(text)

    const list = new BlockList()
    const understood = splitList(text).every((entry) => addNetwork(list, entry))
    return understood && list.rules.length > 0 ? list : undefined
  },
}

export const host: Kind<string> = {
  takes: 'a host name or an address',
  parse: (text) => (isIP(text) > 0 || /^[a-z\d.-]+$/i.test(text) ? text : undefined),
}

/** An origin and nothing more: cookies, cross-site checks and links all hang on it. */
export const origin: Kind<URL> = {
  takes: 'an origin, such as https://example.com',
  parse(text) {
    const url = URL.parse(text)
    // A path, a query or a user name would make the whole longer than its origin.
    const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
    return isOrigin ? url : undefined
  },
}

function addNetwork(list: BlockList, entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/')
  const version = isIP(address)
  const widest = version === 6 ? 128 : 32
  const bits = prefix === undefined ? widest : Number(/^\d{1,3}$/.exec(prefix)?.[0])

  // A prefix of 0 would trust everybody, and everybody could then choose their address.
  if (version === 0 || rest.length > 0 || !(bits >= 1 && bits <= widest)) return false
  list.addSubnet(address, bits, version === 6 ? 'ipv6' : 'ipv4')
  return true
}
