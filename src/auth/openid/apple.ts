import { createPrivateKey } from 'node:crypto'

interface AppleKey {
  /** The Services ID, which is the `clientId`. */
  readonly clientId: string
  readonly teamId: string
  readonly keyId: string
  /** The content of the `.p8` file. */
  readonly privateKey: string
}

/** The `clientSecret` of "Sign in with Apple": a token that is signed anew for each request. */
export function appleClientSecret({ clientId, teamId, keyId, privateKey }: AppleKey): () => Promise<string> {
  const key = createPrivateKey(privateKey)
  return async () => {
    const { SignJWT } = await import('jose')
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: teamId, sub: clientId, aud: 'https://appleid.apple.com', iat: now, exp: now + 300 }
    return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: keyId }).sign(key)
  }
}
