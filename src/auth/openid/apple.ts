import { createPrivateKey, sign } from 'node:crypto'

interface AppleKey {
  /** The Services ID, which is the `clientId`. */
  readonly clientId: string
  readonly teamId: string
  readonly keyId: string
  /** The content of the `.p8` file. */
  readonly privateKey: string
}

/** The `clientSecret` of "Sign in with Apple": a token that is signed anew for each request. */
export function appleClientSecret({ clientId, teamId, keyId, privateKey }: AppleKey): () => string {
  const key = createPrivateKey(privateKey)
  return () => {
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: teamId, sub: clientId, aud: 'https://appleid.apple.com', iat: now, exp: now + 300 }
    const signed = [{ alg: 'ES256', kid: keyId }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')
    const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' })
    return `${signed}.${signature.toString('base64url')}`
  }
}
