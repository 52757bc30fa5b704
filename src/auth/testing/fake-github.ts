import { createHash, randomBytes } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { type FakeProvider, json, redirectTo, serveProvider } from './fake-provider.ts'

const token = 'gho_access-token-of-github'

/** GitHub's shape: OAuth 2.0 without ID tokens, errors with the status 200, and private addresses. */
export function fakeGitHub(user: object, emails: readonly object[]): Promise<FakeProvider> {
  const codes = new Map<string, URLSearchParams>()
  return serveProvider(async (request, { pathname, searchParams }) => {
    if (pathname === '/login/oauth/authorize') {
      const code = randomBytes(10).toString('hex')
      codes.set(code, searchParams)
      return redirectTo(searchParams.get('redirect_uri') ?? '', {
        code,
        state: searchParams.get('state') ?? '',
      })
    }
    if (pathname === '/login/oauth/access_token') {
      const form = new URLSearchParams(await text(request))
      const started = codes.get(form.get('code') ?? '')
      codes.delete(form.get('code') ?? '')
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url')
      if (challenge !== started?.get('code_challenge')) return json({ error: 'bad_verification_code' })
      return json({ access_token: token, scope: 'read:user,user:email', token_type: 'bearer' })
    }
    if (request.headers.authorization !== `Bearer ${token}`) return json({ message: 'Bad credentials' }, 401)
    if (pathname === '/api/v3/user') return json(user)
    if (pathname === '/api/v3/user/emails') return json(emails)
    return json({ message: 'Not Found' }, 404)
  })
}
