import type { ExtendableContext } from 'koa'

const maxBytes = 2048
// An arbitrary origin for the resolution of paths.
const site = 'https://site.invalid'

/** The path after sign-in: `next` if it is short and, also percent-decoded, stays on this site. Otherwise the fallback. */
export function nextPath(next: unknown, fallback: string): string {
  return isPathOnSite(next) ? next : fallback
}

/**
 * The sign-in page, with the requested path and query as its `next` parameter. Only a `GET` or `HEAD` request with a path that
 * `nextPath` accepts adds the parameter.
 */
export function withNext(
  loginPath: string,
  { method, originalUrl: url }: Pick<ExtendableContext, 'method' | 'originalUrl'>,
): string {
  const isPage = (method === 'GET' || method === 'HEAD') && isPathOnSite(url)
  return isPage
    ? `${loginPath}${loginPath.includes('?') ? '&' : '?'}next=${encodeURIComponent(url)}`
    : loginPath
}

function isPathOnSite(value: unknown): value is string {
  if (typeof value !== 'string' || Buffer.byteLength(value) > maxBytes || !value.isWellFormed()) return false
  const decoded = decode(value)
  return decoded !== undefined && staysOnSite(value) && staysOnSite(decoded)
}

/** Whether a redirect to that path stays on this site, before and after the removal of dot segments (RFC 3986 §5.2.4). */
export function staysOnSite(path: string): boolean {
  if (!/^\/(?![/\\])/.test(path) || /\p{Cc}/u.test(path)) return false
  const url = URL.parse(path, site)
  // Without its dot segments, `/.//example.com` is `//example.com`, which is another host.
  return url?.origin === site && !url.pathname.startsWith('//')
}

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value)
  } catch {
    return undefined
  }
}
