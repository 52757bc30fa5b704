import { type Answer, isBase64url, undefinedOnError } from './answer.ts'
import { type Passkey, storedTransports } from './passkey.ts'
import { algorithms, type RelyingParty } from './relying-party.ts'

type Attested = Pick<
  Passkey,
  'credentialId' | 'publicKey' | 'counter' | 'transports' | 'isBackupEligible' | 'isBackedUp'
>

// The length of the column.
const maxKeyLength = 2000

/**
 * Verifies an answer that creates a passkey. The challenge must be used up already.
 *
 * @returns the columns of the passkey, or `undefined` if the answer is invalid
 */
export async function verifyAttestation(site: RelyingParty, answer: Answer): Promise<Attested | undefined> {
  const { id, challenge, response } = answer
  const { clientDataJSON, attestationObject, transports } = response
  if (!isBase64url(clientDataJSON, 4096) || !isBase64url(attestationObject, 16_384)) return undefined
  // Imported at the first use, because the library needs 30 MB of memory.
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers')
  const info = await undefinedOnError(async () => {
    const bytes = new Uint8Array(Buffer.from(attestationObject, 'base64url'))
    if (!isUncertified(decodeAttestationObject(bytes))) return undefined
    const { registrationInfo } = await verifyRegistrationResponse({
      response: {
        ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
        response: { clientDataJSON, attestationObject },
      },
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    })
    return registrationInfo
  })
  // The library does not compare the two ids.
  if (info?.credential.id !== id) return undefined
  const publicKey = Buffer.from(info.credential.publicKey).toString('base64url')
  if (publicKey.length > maxKeyLength) return undefined
  return {
    credentialId: id,
    publicKey,
    counter: info.credential.counter,
    transports: storedTransports(transports),
    isBackupEligible: info.credentialDeviceType === 'multiDevice',
    isBackedUp: info.credentialBackedUp,
  }
}

interface Attestation {
  get(key: 'fmt'): string
  get(key: 'attStmt'): { get(key: 'x5c'): unknown }
}

/**
 * Whether an attestation has no certificates. The options ask for none. For some formats, the library would download a revocation
 * list from a URL in a certificate (server-side request forgery).
 */
function isUncertified(attestation: Attestation): boolean {
  const format = attestation.get('fmt')
  // Browsers may send a self attestation, which has no certificate (WebAuthn §5.1.3).
  return format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined)
}
