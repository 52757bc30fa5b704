import { isIP, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

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
function partsOf(address: string): (number | string)[] {
  // A command of the operator has no address.
  if (isIP(address) === 0) return [address]
  // Converts an IPv4-mapped address (RFC 4291 §2.5.5.2).
  const parsed = ipaddr.process(isIPv6(address) ? normalized(address) : address)
  if (parsed instanceof ipaddr.IPv4) return parsed.octets
  // NAT64 (RFC 6052 §2.1).
  if (parsed.range() === 'rfc6052') return parsed.toByteArray().slice(12)
  return parsed.parts.map((group) => group.toString(16))
}

// ipaddr.js rejects some notations of an IPv6 address that ends with an IPv4 address. URL rejects a zone.
function normalized(address: string): string {
  return new URL(`http://[${address.replace(/%.*/, '')}]`).hostname.slice(1, -1)
}
