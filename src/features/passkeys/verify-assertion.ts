import { type Answer, isBase64url, undefinedOnError } from './answer.ts'
import type { Passkey } from './passkey.ts'
import type { RelyingParty } from './relying-party.ts'

// The maximum length of each field.
const maxLength = 4096

/**
 * Verifies the signature of an answer and the data that it signs. The challenge must be used up already. The caller compares the
 * counter, because the library compares it before it verifies the signature.
 *
 * @returns the new values of the passkey, or `undefined` if the answer is invalid
 */
export async function verifyAssertion(
  site: RelyingParty,
  { id, challenge, response }: Answer,
  passkey: Passkey,
): Promise<Pick<Passkey, 'counter' | 'isBackedUp'> | undefined> {
  const { clientDataJSON, authenticatorData, signature } = response
  if (
    !isBase64url(clientDataJSON, maxLength) ||
    !isBase64url(authenticatorData, maxLength) ||
    !isBase64url(signature, maxLength)
  )
    return undefined
  // Imported at the first use, because the library needs 30 MB of memory.
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const result = await undefinedOnError(() =>
    verifyAuthenticationResponse({
      response: {
        ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
        response: { clientDataJSON, authenticatorData, signature },
      },
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      credential: { id, publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')), counter: 0 },
      requireUserVerification: true,
    }),
  )
  if (!result?.verified) return undefined
  const { newCounter, credentialDeviceType, credentialBackedUp } = result.authenticationInfo
  // Backup eligibility never changes (WebAuthn §7.2).
  if ((credentialDeviceType === 'multiDevice') !== passkey.isBackupEligible) return undefined
  return { counter: newCounter, isBackedUp: credentialBackedUp }
}
