import { isIPv6 } from 'node:net'

// IPv4-mapped addresses (RFC 4291 §2.5.5.2) and NAT64 (RFC 6052 §2.1).
const wrapped = ['0:0:0:0:0:ffff', '64:ff9b:0:0:0:0']

/** The network of an address: the IPv4 address, also if an IPv6 address contains it, or the /64 of any other IPv6 address. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const groups = groupsOf(address)
  if (wrapped.includes(groups.slice(0, 6).join(':'))) return dotted(groups.slice(6))
  return `${groups.slice(0, 4).join(':')}::/64`
}

function groupsOf(address: string): string[] {
  // URL normalizes an address (RFC 5952), but rejects a zone.
  const { hostname } = new URL(`http://[${address.split('%')[0]}]`)
  const [head = '', tail] = hostname.slice(1, -1).split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  return [...before, ...Array<string>(zeros).fill('0'), ...after]
}

function dotted(groups: readonly string[]): string {
  const bytes = groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
  return bytes.join('.')
}
