import { type EntityManager, UniqueConstraintViolationException } from '@mikro-orm/core'
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server'
import { lockAccount, type User } from '../../users/user.ts'
import { receiveAnswer } from './answer.ts'
import { type Ceremony, challengeLifetime, newChallenge } from './challenges.ts'
import { descriptor, listPasskeys, maxPasskeys, Passkey, userHandleOf } from './passkey.ts'
import { providerName } from './provider-name.ts'
import { algorithms, type RelyingParty } from './relying-party.ts'
import { verifyAttestation } from './verify-answer.ts'

interface PasskeyOwner {
  readonly user: User
  /** The digest of the user's session. */
  readonly session: string
}

interface NewPasskey extends PasskeyOwner {
  /** The JSON text of the `PublicKeyCredential`. */
  readonly credential: string
  /** A name that `nameProblem` accepts. By default, the name of the provider, or of the device. */
  readonly name: string | undefined
  readonly device?: string
  /** Called in the transaction that adds the passkey. */
  readonly onAdded?: (em: EntityManager) => Promise<void>
}

/** Why a passkey was not added. `outdated`: the credentials have changed, or the account was disabled or deleted. */
export type AddProblem = 'invalid' | 'taken' | 'too many' | 'outdated'

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

/** Verifies the answer to `creationOptions` and adds the passkey. Returns the passkey, or why it was not added. */
export async function verifyRegistration(
  em: EntityManager,
  site: RelyingParty,
  { user, session, credential, name: typed, device = 'Passkey', onAdded }: NewPasskey,
): Promise<Passkey | AddProblem> {
  const userHandle = userHandleOf(user.id, await listPasskeys(em, user.id), site.key)
  const answer = await receiveAnswer(em, site.key, credential, ceremonyOf(session, userHandle))
  const attested = answer && (await verifyAttestation(site, answer))
  if (!attested) return 'invalid'
  const { aaguid, ...columns } = attested
  const name = typed ?? providerName(aaguid) ?? device
  try {
    return await em.transactional(async (em) => {
      if (!(await lockAccount(em, user))) return 'outdated'
      if ((await em.count(Passkey, { user: user.id })) >= maxPasskeys) return 'too many'
      const more = { user: user.id, userHandle, name, createdAt: new Date(), lastUsedAt: null }
      const passkey = em.create(Passkey, { ...columns, ...more })
      await em.flush()
      await onAdded?.(em)
      return passkey
    })
  } catch (error) {
    // The credential id is unique over all accounts (WebAuthn §7.1).
    if (error instanceof UniqueConstraintViolationException) return 'taken'
    throw error
  }
}

// The binding contains the user handle of the options. The answer is rejected if the handle of the account has changed.
function ceremonyOf(session: string, userHandle: string): Ceremony {
  return { purpose: 'add', binding: session && `${session} ${userHandle}` }
}
