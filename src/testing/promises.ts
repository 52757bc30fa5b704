import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { resolve } from 'node:path'
import problems from '../problems.json' with { type: 'json' }
import { password } from './password.ts'

/** A response of the site. */
export interface Answer {
  /** Method and path, for assertion messages. */
  readonly request: string
  readonly status: number
  /** The headers without `X-Request-Id`, which is in `requestId`. */
  readonly headers: IncomingHttpHeaders
  readonly requestId: string
  /** The `WWW-Authenticate` headers. */
  readonly challenges: readonly string[]
  /** The `Set-Cookie` headers. */
  readonly cookies: readonly string[]
  readonly text: string
  /** The body if it is JSON, else an empty object. */
  readonly record: Record<string, unknown>
}

/** Asserts the promises that every response of the site keeps: headers, cookies, redirects, errors, no leaked secret. */
export function assertPromises(answer: Answer, secrets: ReadonlySet<string>): void {
  assertHeaders(answer)
  assertNoLeak(answer, secrets)
  if (answer.cookies.length > 0) assertCookies(answer)
  if (answer.headers.location !== undefined) assertSameSiteRedirect(answer)
  if (answer.status >= 400) assertError(answer)
}

function assertHeaders({ headers, request, status }: Answer): void {
  const policy = String(headers['content-security-policy'])
  assert.match(policy, /(^|; )default-src 'none'(;|$)/, request)
  assert.match(policy, /(^|; )base-uri 'none'(;|$)/, request)
  assert.match(policy, /(^|; )frame-ancestors 'none'(;|$)/, request)
  assert.match(policy, /(^|; )form-action 'self'(;|$)/, request)
  assert.doesNotMatch(policy, /unsafe|\*|:/, `${request}: no inline code and no other origin`)
  assert.equal(headers['x-content-type-options'], 'nosniff', request)
  assert.equal(headers['x-frame-options'], 'DENY', request)
  assert.match(
    String(headers['referrer-policy']),
    isLinkPage(request) ? /^(no-referrer|same-origin)$/ : /^same-origin$/,
    request,
  )
  assert.equal(headers['cross-origin-opener-policy'], 'same-origin', request)
  assert.equal(headers['cross-origin-resource-policy'], 'same-origin', request)
  const isVersionOfFile = / \/[\w-]+\.\w+\?v=[\w-]{10}$/.test(request)
  const caching = isVersionOfFile ? /^(no-cache|public, max-age=31536000, immutable)$/ : /^no-(store|cache)$/
  assert.match(headers['cache-control'] ?? '', caching, request)
  for (const name of ['server', 'x-powered-by', 'access-control-allow-origin'])
    assert.equal(headers[name], undefined, `${request} sends ${name}`)
  assert.notEqual(status, 500, request)
}

// The pages of links, which have a token in their address.
function isLinkPage(request: string): boolean {
  return isReset(request) || /^\w+ \/verify(\?|$)/.test(request)
}

function isReset(request: string): boolean {
  return /^\w+ \/reset(\?|$)/.test(request)
}

const folder = resolve(import.meta.dirname, '../..')
const leaks = [
  /password_?hash/i,
  /\$2[aby]\$/,
  // Stacks, statements and driver errors.
  /\n\s+at .+:\d+/,
  /node_modules|file:\/\//,
  /\b(select [^<]* from|insert into|delete from|alter table|update `)/i,
  /SQLITE_|Exception\b|\bpostgres|violates \w+ constraint|relation "/i,
]

function assertNoLeak(answer: Answer, secrets: ReadonlySet<string>) {
  const { headers, request, text } = answer
  for (const leak of leaks) assert.doesNotMatch(text, leak, request)
  assert.ok(!text.includes(folder), `${request} shows a path`)
  const head = JSON.stringify({ ...headers, 'set-cookie': undefined })
  for (const each of [text, head]) assert.ok(!each.includes(password), `${request} contains the password`)
  for (const secret of secrets) {
    assert.ok(!head.includes(secret), `${request} sends a secret in a header`)
    if (!showsNewToken(answer)) assert.ok(!text.includes(secret), `${request} shows a secret`)
  }
}

// A new token is shown once: in the response that creates it, or on the page that reads and clears its cookie.
// The form of a reset link contains its token. A session id is never shown.
function showsNewToken({ cookies, headers, request, status }: Answer): boolean {
  if (isReset(request)) return status < 410 && headers['content-type'] === 'text/html; charset=utf-8'
  if (request.startsWith('POST /login')) return status === 200
  if (request === 'POST /account/tokens') return status === 201
  return request === 'GET /account/tokens' && cookies.some((each) => /new-token=; Max-Age=0;/.test(each))
}

function assertCookies({ cookies, request }: Answer): void {
  const value = '=([\\w.-]{43,249}; Max-Age=[1-9]\\d*|; Max-Age=0); Path=/; HttpOnly; SameSite=Lax'
  const name =
    '(session|device|new-token|new-recovery-codes|password-reset|pending-sign-in|app-set-up|passkey|provider-flow)'
  const form = new RegExp(`^(${name}${value}|__Host-${name}${value}; Secure)$`)
  const isTheme = (each: string) => request === 'POST /account/theme' && /^(__Host-)?theme=/.test(each)
  for (const each of cookies) if (!isTheme(each)) assert.match(each, form, request)
  const names = cookies.map((each) => each.split('=', 1)[0])
  assert.equal(new Set(names).size, names.length, `${request} sets a cookie twice`)
}

function assertSameSiteRedirect({ headers: { location = '' }, request, status }: Answer): void {
  assert.equal(status, 303, request)
  assert.match(location, /^\/(?![/\\])/, request)
  assert.equal(new URL(location, 'http://here.invalid').host, 'here.invalid', request)
}

function assertError({ headers, request, status, challenges, ...answer }: Answer): void {
  if (status === 405) assert.match(headers.allow ?? '', /^[A-Z]+(, [A-Z]+)*$/, request)
  if (status === 503 || status === 429) assert.match(headers['retry-after'] ?? '', /^\d+$/, request)
  if (request.startsWith('HEAD') || /^GET \/(healthz|readyz)/.test(request)) return
  const isPage = headers['content-type'] === 'text/html; charset=utf-8'
  if (status === 401) {
    assert.equal(challenges.length > 0, !isPage, `${request}: a challenge in JSON, none on a page`)
    const challenge = /^(Basic realm="\w+", charset="UTF-8"|Bearer realm="\w+"(, error="invalid_token")?)$/
    for (const each of challenges) assert.match(each, challenge, request)
  }
  if (isPage) {
    assert.match(answer.text, /^<!doctype html>[\s\S]*<title>Error: /, request)
    return
  }
  assert.match(headers['content-type'] ?? '', /^application\/problem\+json(;|$)/, request)
  const { type, title, status: same, detail, code, errors, ...others } = answer.record
  assert.deepEqual(others, {}, request)
  assert.ok(Object.hasOwn(problems, String(code)), `${request}: ${code} is in problems.json`)
  assert.equal(type, `/problems/${code}`, request)
  assert.match(String(title), /^[A-Z][\w' -]+$/, request)
  assert.equal(same, status, request)
  assert.match(String(detail), /^[A-Z`].+\.$/, `${request}: a sentence`)
  if (errors !== undefined) assert.ok(Array.isArray(errors) && errors.length > 0, request)
}
