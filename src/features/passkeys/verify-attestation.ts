import { type Answer, isBase64url, verified } from './answer.ts'
import type { Passkey } from './passkey.ts'
import { algorithms, type RelyingParty } from './relying-party.ts'
import { storedTransports } from './transports.ts'

type Attested = Pick<
  Passkey,
  'credentialId' | 'publicKey' | 'counter' | 'transports' | 'isBackupEligible' | 'isBackedUp'
>

// The length of the column.
const maxKeyLength = 2000

/**
 * Verifies the answer to a creation, whose challenge is used up.
 * @returns the columns of the passkey, or `undefined` if the answer is wrong
 */
export async function verifyAttestation(site: RelyingParty, answer: Answer): Promise<Attested | undefined> {
  const { id, challenge, response } = answer
  const { clientDataJSON, attestationObject, transports } = response
  if (!isBase64url(clientDataJSON, 4096) || !isBase64url(attestationObject, 16_384)) return undefined
  // Imported at the first use, because the library takes 30 MB.
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers')
  const info = await verified(async () => {
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
 * Whether an attestation has no certificates, as the options ask for. For some formats with certificates, the library
 * would download a revocation list from an address in a certificate.
 */
function isUncertified(attestation: Attestation): boolean {
  const format = attestation.get('fmt')
  // Browsers may pass on an attestation by the passkey itself (WebAuthn §5.1.3).
  return format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined)
}
