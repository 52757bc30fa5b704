import type { EntityManager } from '@mikro-orm/core'
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server'
import type { User } from '../../users/user.ts'
import { receiveAnswer } from './answer.ts'
import { type Ceremony, challengeLifetime, newChallenge } from './challenges.ts'
import { descriptor, Passkey } from './passkey.ts'
import type { RelyingParty } from './relying-party.ts'
import { verifyAssertion } from './verify-answer.ts'

/**
 * The options of `navigator.credentials.get` as JSON. Without `allowed`, the browser offers all its passkeys of the site, and the
 * options reveal nothing about accounts.
 */
export function requestOptions(
  site: RelyingParty,
  ceremony: Ceremony,
  allowed: readonly Passkey[] = [],
): PublicKeyCredentialRequestOptionsJSON {
  return {
    rpId: site.id,
    challenge: newChallenge(site.key, ceremony),
    allowCredentials: allowed.map(descriptor),
    timeout: challengeLifetime,
    userVerification: 'required',
  }
}

/** An answer to `requestOptions`. */
export interface Use {
  readonly ceremony: Ceremony
  /** The JSON text of the `PublicKeyCredential`. */
  readonly credential: string
  /** The user who confirms. */
  readonly user?: User
}

/**
 * Verifies the answer of a sign-in or a confirmation, and records the use of the passkey.
 *
 * @returns the accepted passkey as it was before the use, with its user. If the signature is valid but the counter did not increase,
 * `copy` is the passkey, because its authenticator may have been copied
 */
export async function verifyUse(
  em: EntityManager,
  site: RelyingParty,
  { ceremony, credential, user }: Use,
): Promise<{ accepted?: Passkey; copy?: Passkey }> {
  const answer = await receiveAnswer(em, site.key, credential, ceremony)
  const options = { populate: ['user'], disableIdentityMap: true } as const
  const passkey = answer && (await em.findOne(Passkey, { credentialId: answer.id }, options))
  if (!passkey) return {}
  // Without a user, a confirmation is always rejected.
  if (ceremony.purpose === 'confirm' && user?.id !== passkey.user.id) return {}
  // The library does not compare the user handle. An authenticator may omit it if the options name the passkeys of the user. Safari then
  // sends an empty string or null.
  const isOmitted = [undefined, null, ''].some((each) => each === answer.userHandle)
  if (isOmitted ? !user : answer.userHandle !== passkey.userHandle) return {}
  const use = await verifyAssertion(site, answer, passkey)
  if (!use) return {}
  const { counter } = use
  // The update checks the counter, so that only one of two concurrent answers with the same counter is accepted. A counter of 0 means
  // that the authenticator has none.
  const where = { id: passkey.id, counter: counter === 0 ? 0 : { $lt: counter } }
  const changed = await em.nativeUpdate(Passkey, where, { ...use, lastUsedAt: new Date() })
  if (changed === 1) return { accepted: passkey }
  // Another request may have removed the passkey.
  const stillExists = (await em.count(Passkey, { id: passkey.id })) > 0
  return stillExists ? { copy: passkey } : {}
}
