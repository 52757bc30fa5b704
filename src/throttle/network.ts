import { isIPv6 } from 'node:net'

// IPv4-mapped addresses (RFC 4291 §2.5.5.2) and NAT64 (RFC 6052 §2.1).
const wrapped = ['0:0:0:0:0:ffff', '64:ff9b:0:0:0:0']

/** The network of an address: the IPv4 address, also if an IPv6 address contains it, or the /64 of any other IPv6 address. */
export function networkOf(address: string): string {
  const parts = partsOf(address)
  return parts.length === 8 ? `${parts.slice(0, 4).join(':')}::/64` : parts.join('.')
}

/** The block that a provider gives to one customer: the /24 of an IPv4 address, or the /48 of any other IPv6 address. */
export function blockOf(address: string): string {
  const parts = partsOf(address)
  const block = parts.slice(0, 3)
  return parts.length === 8 ? `${block.join(':')}::/48` : `${block.join('.')}.0/24`
}

/** The four numbers of an IPv4 address, or the eight groups of an IPv6 address. */
function partsOf(address: string): string[] {
  if (!isIPv6(address)) return address.split('.')
  const groups = groupsOf(address)
  return wrapped.includes(groups.slice(0, 6).join(':')) ? bytesOf(groups.slice(6)) : groups
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

function bytesOf(groups: readonly string[]): string[] {
  const numbers = groups.map((group) => Number.parseInt(group, 16))
  return numbers.flatMap((number) => [`${number >> 8}`, `${number & 255}`])
}
