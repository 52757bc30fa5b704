import { type EntityManager, UniqueConstraintViolationException } from '@mikro-orm/core'
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server'
import { FieldRefusal, type ProblemCode } from '../../refusal.ts'
import type { User } from '../../users/user.ts'
import { receiveAnswer } from './answer.ts'
import { type Ceremony, challengeLifetime, newChallenge } from './challenges.ts'
import { descriptor, listPasskeys, maxPasskeys, Passkey, userHandleOf } from './passkey.ts'
import { algorithms, type RelyingParty } from './relying-party.ts'
import { verifyAttestation } from './verify-answer.ts'

interface PasskeyOwner {
  readonly user: User
  /** The digest of the user's session. */
  readonly session: string
}

/** The options of `navigator.credentials.create` as JSON. Writes nothing to the database. */
export async function creationOptions(
  em: EntityManager,
  site: RelyingParty,
  { user, session }: PasskeyOwner,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const own = await listPasskeys(em, user.id)
  const handle = userHandleOf(user.id, own, site.key)
  return {
    challenge: newChallenge(site.key, ceremonyOf(session, handle)),
    rp: { name: site.name, id: site.id },
    user: { id: handle, name: user.email, displayName: user.name },
    pubKeyCredParams: algorithms.map((alg) => ({ alg, type: 'public-key' })),
    timeout: challengeLifetime,
    attestation: 'none',
    excludeCredentials: own.map(descriptor),
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    },
    extensions: { credProps: true },
    hints: [],
  }
}

/** Verifies the answer to `creationOptions`, the JSON text of a `PublicKeyCredential`. Throws 400 if it is invalid. */
export async function verifyRegistration(
  em: EntityManager,
  site: RelyingParty,
  { user, session }: PasskeyOwner,
  credential: string,
) {
  const userHandle = userHandleOf(user.id, await listPasskeys(em, user.id), site.key)
  const answer = await receiveAnswer(em, site.key, credential, ceremonyOf(session, userHandle))
  const attested = answer && (await verifyAttestation(site, answer))
  if (attested) return { ...attested, userHandle }
  throw refusal('bad_request', 'The passkey was not accepted, or the page was open for too long. Try again.')
}

/**
 * Stores a verified passkey. Call it with the account locked. Throws 409 if the account has too many passkeys, or if the passkey belongs
 * to an account already.
 */
export async function insertPasskey(
  em: EntityManager,
  user: string,
  { aaguid, ...columns }: Awaited<ReturnType<typeof verifyRegistration>> & Pick<Passkey, 'name'>,
): Promise<Passkey> {
  if ((await em.count(Passkey, { user })) >= maxPasskeys)
    throw refusal('conflict', `An account can have ${maxPasskeys} passkeys. Remove one first.`)
  const passkey = em.create(Passkey, { ...columns, user, createdAt: new Date(), lastUsedAt: null })
  try {
    await em.flush()
    return passkey
  } catch (error) {
    // The credential id is unique over all accounts (WebAuthn §7.1).
    if (error instanceof UniqueConstraintViolationException)
      throw refusal('conflict', 'This passkey belongs to an account already.')
    throw error
  }
}

function refusal(code: ProblemCode, detail: string): FieldRefusal {
  return new FieldRefusal(code, [{ field: 'passkey', detail }])
}

// The binding contains the user handle of the options. The answer is rejected if the handle of the account has changed.
function ceremonyOf(session: string, userHandle: string): Ceremony {
  return { purpose: 'add', binding: session && `${session} ${userHandle}` }
}
