const maxBytes = 2048
// Any host will do: the check is whether a path leads away from it.
const here = 'https://here.invalid'

/**
 * The page to show after sign-in: `next`, byte for byte, if it and its percent-decoded form are paths on this site, else the
 * fallback. `next` may be any value of a form or of `new URLSearchParams(ctx.querystring)`.
 */
export function nextPath(next: unknown, fallback: string): string {
  return isPathHere(next) ? next : fallback
}

/** The part of a request that `withNext` reads. */
interface RequestedPage {
  readonly method: string
  readonly originalUrl: string
}

/** The sign-in page with the requested path and query as its `next` parameter, for `GET` and `HEAD` requests only. */
export function withNext(loginPath: string, { method, originalUrl: url }: RequestedPage): string {
  const isPage = (method === 'GET' || method === 'HEAD') && isPathHere(url)
  return isPage
    ? `${loginPath}${loginPath.includes('?') ? '&' : '?'}next=${encodeURIComponent(url)}`
    : loginPath
}

function isPathHere(value: unknown): value is string {
  if (typeof value !== 'string' || Buffer.byteLength(value) > maxBytes || !value.isWellFormed()) return false
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
