import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { isBase64url } from '../../auth/base64url.ts'
import type { Answer } from './answer.ts'
import { type Passkey, storedTransports } from './passkey.ts'
import { algorithms, type RelyingParty } from './relying-party.ts'

// The length of the column `publicKey`.
const maxKeyLength = 2000

/**
 * Verifies an answer that creates a passkey. The challenge must be used up already.
 *
 * @returns the columns of the passkey and the kind of authenticator (AAGUID), or `undefined` if the answer is invalid
 */
export async function verifyAttestation(site: RelyingParty, answer: Answer) {
  // Imported at the first use, because the library needs 30 MB of memory.
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers')
  // `receiveAnswer` has checked `clientDataJSON`. `storedTransports` accepts any value.
  const response = answer.response as RegistrationResponseJSON['response']
  // `Buffer.from` would allocate the length of an object such as `{ length: 1e9 }`, and would decode `=` and other characters
  // differently than the library.
  if (!isBase64url(response.attestationObject)) return undefined
  const verify = async () => {
    const bytes = new Uint8Array(Buffer.from(response.attestationObject, 'base64url'))
    if (!isUncertified(decodeAttestationObject(bytes))) return undefined
    const { registrationInfo } = await verifyRegistrationResponse({
      response: { ...credentialOf(answer), response },
      ...expectationsOf(site, answer),
      supportedAlgorithmIDs: algorithms,
    })
    return registrationInfo
  }
  const info = await verify().catch(ignoreError)
  // The library does not compare the id of the answer with the attested id.
  if (info?.credential.id !== answer.id) return undefined
  const publicKey = Buffer.from(info.credential.publicKey).toString('base64url')
  if (publicKey.length > maxKeyLength) return undefined
  return {
    aaguid: info.aaguid,
    credentialId: answer.id,
    publicKey,
    counter: info.credential.counter,
    transports: storedTransports(response.transports),
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
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  // The library throws if a member is missing or has the wrong type.
  const response = answer.response as AuthenticationResponseJSON['response']
  const publicKey = new Uint8Array(Buffer.from(passkey.publicKey, 'base64url'))
  const result = await verifyAuthenticationResponse({
    response: { ...credentialOf(answer), response },
    ...expectationsOf(site, answer),
    credential: { id: answer.id, publicKey, counter: 0 },
  }).catch(ignoreError)
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

// The library throws errors of many classes for an invalid answer.
function ignoreError(): undefined {}
