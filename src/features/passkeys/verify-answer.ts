import { type Answer, isBase64url } from './answer.ts'
import { type Passkey, storedTransports } from './passkey.ts'
import { algorithms, type RelyingParty } from './relying-party.ts'

// The maximum length of a base64url field, except the attestation object.
const maxLength = 4096

type Attested = Pick<
  Passkey,
  'credentialId' | 'publicKey' | 'counter' | 'transports' | 'isBackupEligible' | 'isBackedUp'
>

// The length of the column `publicKey`.
const maxKeyLength = 2000

/**
 * Verifies an answer that creates a passkey. The challenge must be used up already.
 *
 * @returns the columns of the passkey, or `undefined` if the answer is invalid
 */
export async function verifyAttestation(site: RelyingParty, answer: Answer): Promise<Attested | undefined> {
  const { id, response } = answer
  const { clientDataJSON, attestationObject, transports } = response
  if (!isBase64url(clientDataJSON, maxLength) || !isBase64url(attestationObject, 16_384)) return undefined
  // Imported at the first use, because the library needs 30 MB of memory.
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers')
  const info = await undefinedOnError(async () => {
    const bytes = new Uint8Array(Buffer.from(attestationObject, 'base64url'))
    if (!isUncertified(decodeAttestationObject(bytes))) return undefined
    const { registrationInfo } = await verifyRegistrationResponse({
      response: { ...credentialOf(answer), response: { clientDataJSON, attestationObject } },
      ...expectationsOf(site, answer),
      supportedAlgorithmIDs: algorithms,
    })
    return registrationInfo
  })
  // The library does not compare the id of the answer with the attested id.
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

/**
 * Verifies the signature of an answer and the data that it signs. The challenge must be used up already. The caller compares the
 * counter, because the library compares it before it verifies the signature.
 *
 * @returns the new values of the passkey, or `undefined` if the answer is invalid
 */
export async function verifyAssertion(
  site: RelyingParty,
  answer: Answer,
  passkey: Passkey,
): Promise<Pick<Passkey, 'counter' | 'isBackedUp'> | undefined> {
  const { clientDataJSON, authenticatorData, signature } = answer.response
  if (
    !isBase64url(clientDataJSON, maxLength) ||
    !isBase64url(authenticatorData, maxLength) ||
    !isBase64url(signature, maxLength)
  )
    return undefined
  const publicKey = new Uint8Array(Buffer.from(passkey.publicKey, 'base64url'))
  // Imported at the first use, because the library needs 30 MB of memory.
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const result = await undefinedOnError(() =>
    verifyAuthenticationResponse({
      ...expectationsOf(site, answer),
      response: { ...credentialOf(answer), response: { clientDataJSON, authenticatorData, signature } },
      credential: { id: answer.id, publicKey, counter: 0 },
    }),
  )
  if (!result?.verified) return undefined
  const { newCounter, credentialDeviceType, credentialBackedUp } = result.authenticationInfo
  // Backup eligibility never changes (WebAuthn §7.2).
  if ((credentialDeviceType === 'multiDevice') !== passkey.isBackupEligible) return undefined
  return { counter: newCounter, isBackedUp: credentialBackedUp }
}

function credentialOf({ id }: Answer) {
  return { id, rawId: id, type: 'public-key', clientExtensionResults: {} } as const
}

function expectationsOf({ origin, id }: RelyingParty, { challenge }: Answer) {
  return {
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: true,
  }
}

/**
 * Runs a verification by `@simplewebauthn/server`, and returns `undefined` if it throws. The library throws errors of many
 * classes for an invalid answer. Do not access the database in `verify`, because its errors would be lost.
 */
async function undefinedOnError<Result>(
  verify: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  try {
    return await verify()
  } catch {
    return undefined
  }
}
