import type { EntityManager } from '@mikro-orm/core'
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server'
import { User } from '../../users/user.ts'
import { type Answer, receiveAnswer } from './answer.ts'
import { type Ceremony, challengeLifetime, newChallenge } from './challenges.ts'
import { descriptor, Passkey } from './passkey.ts'
import type { RelyingParty } from './relying-party.ts'
import { verifyAssertion } from './verify-answer.ts'

/** A passkey as it was before its use, and its user. */
export interface Identified {
  readonly user: User
  readonly passkey: Passkey
}

/**
 * The result of a sign-in or a confirmation. `counterWentBack` means that the signature is valid, but its counter did not
 * increase. The authenticator may have been copied.
 */
export type Assertion =
  | ({ readonly isValid: true } & Identified)
  | { readonly isValid: false; readonly counterWentBack?: Identified }

const rejected: Assertion = { isValid: false }

/**
 * The options of `navigator.credentials.get` as JSON. Without `allowed`, the browser offers all its passkeys of the site, and the
 * options reveal nothing about accounts.
 */
export function requestOptions(
  site: RelyingParty,
  ceremony: Ceremony,
  allowed: readonly Passkey[] = [],
  now = Date.now(),
): PublicKeyCredentialRequestOptionsJSON {
  return {
    rpId: site.id,
    challenge: newChallenge(site.key, ceremony, now),
    allowCredentials: allowed.map(descriptor),
    timeout: challengeLifetime,
    userVerification: 'required',
  }
}

/** An answer to `requestOptions`. */
export interface Use {
  readonly ceremony: Ceremony
  /** The JSON text of the `PublicKeyCredential`. */
  readonly credential: unknown
  /** The user who confirms. */
  readonly user?: User
}

/** Verifies the answer of a sign-in or a confirmation, and records the use of the passkey. */
export async function verifyUse(
  em: EntityManager,
  site: RelyingParty,
  { ceremony, credential, user }: Use,
  now = Date.now(),
): Promise<Assertion> {
  const answer = await receiveAnswer(em, site.key, credential, ceremony, now)
  const found = answer && (await findOwner(em, answer))
  if (!found) return rejected
  // Without a user, a confirmation is always rejected.
  if (ceremony.purpose === 'confirm' && user?.id !== found.user.id) return rejected
  // The library does not compare the user handle. An authenticator may omit it if the options name the passkeys of the user.
  const { userHandle = user && found.passkey.userHandle } = answer
  if (userHandle !== found.passkey.userHandle) return rejected
  return recordUse(em, site, { answer, ...found }, now)
}

/** The passkey of an answer and its user, unless the account is disabled. */
async function findOwner(em: EntityManager, { id }: Answer): Promise<Identified | undefined> {
  const passkey = await em.findOne(Passkey, { credentialId: id }, { disableIdentityMap: true })
  const user = passkey && (await em.findOne(User, { id: passkey.user.id }, { disableIdentityMap: true }))
  return passkey && user ? { user, passkey } : undefined
}

async function recordUse(
  em: EntityManager,
  site: RelyingParty,
  { answer, user, passkey }: Identified & { readonly answer: Answer },
  now: number,
): Promise<Assertion> {
  const use = await verifyAssertion(site, answer, passkey)
  if (!use) return rejected
  const { counter, isBackedUp } = use
  // The update checks the counter, so that only one of two concurrent answers with the same counter is accepted. A counter of 0 means
  // that the authenticator has none.
  const where = { id: passkey.id, counter: counter === 0 ? 0 : { $lt: counter } }
  const changed = await em.nativeUpdate(Passkey, where, { counter, isBackedUp, lastUsedAt: new Date(now) })
  if (changed === 1) return { isValid: true, user, passkey }
  // Another request may have removed the passkey.
  const stillExists = (await em.count(Passkey, { id: passkey.id })) > 0
  return stillExists ? { isValid: false, counterWentBack: { user, passkey } } : rejected
}
