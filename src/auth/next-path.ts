const longest = 2048
// Any host serves: what matters is that the path does not lead away from it.
const here = 'https://here.invalid'

/**
 * Where to go after signing in: `next` byte for byte if it and its percent-decoded form are paths on this site (HTTP
 * contract, "`next`"), else the fallback. Take `next` as it comes, from the form or by `new URLSearchParams(ctx.querystring)`: it may be
 * anything.
 */
export function nextPath(next: unknown, fallback: string): string {
  return isPathHere(next) ? next : fallback
}

/** The request that a stranger made, with the whole path, whatever it was mounted at. */
interface Asked {
  readonly method: string
  readonly originalUrl: string
}

/** The page to sign in at, with the path and query asked for as one encoded parameter; a form post is not kept. */
export function withNext(loginPath: string, { method, originalUrl: url }: Asked): string {
  const isKept = (method === 'GET' || method === 'HEAD') && isPathHere(url)
  return isKept
    ? `${loginPath}${loginPath.includes('?') ? '&' : '?'}next=${encodeURIComponent(url)}`
    : loginPath
}

function isPathHere(value: unknown): value is string {
  if (typeof value !== 'string' || Buffer.byteLength(value) > longest || !value.isWellFormed()) return false
  const decoded = decode(value)
  return decoded !== undefined && leadsHere(value) && leadsHere(decoded)
}

/** Whether a redirect to that path stays on this site, before and after its dot segments are removed (RFC 3986 §5.2.4). */
export function leadsHere(path: string): boolean {
  if (!/^\/(?![/\\])/.test(path) || /\p{Cc}/u.test(path)) return false
  const url = URL.parse(path, here)
  // A server or proxy that removes dot segments would make `//example.com` of `/.//example.com`.
  return url?.origin === here && !url.pathname.startsWith('//')
}

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value)
  } catch {
    return undefined
  }
}
