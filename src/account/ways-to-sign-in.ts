import type { EntityManager } from '@mikro-orm/core'
import { Refusal } from '../refusal.ts'
import { hasPassword } from '../users/has-password.ts'
import { LinkedIdentity, listIdentities } from '../users/linked-identity.ts'
import { listPasskeys, Passkey } from './passkeys/passkey.ts'
import { removeSecondFactor } from './second-factor/second-factor.ts'
import type { Services } from './services.ts'

/**
 * Requires another way to sign in than the passkey or connected account that is being removed. Call it with the account locked.
 *
 * @param without the id of the passkey or connected account
 * @throws {Refusal} 409 if there is none
 */
export async function requireOtherWay(
  { providers }: Services,
  em: EntityManager,
  { user, without }: { user: string; without: string },
): Promise<void> {
  if (await hasPassword(em, user)) return
  const identities = (await listIdentities(em, user)).filter(({ provider }) => providers.includes(provider))
  const others = [...identities, ...(await listPasskeys(em, user))].filter(({ id }) => id !== without)
  if (others.length === 0)
    throw new Refusal(409, 'This is your only way to sign in. Set a password or add a passkey first.')
}

/**
 * Removes the authenticator app, the recovery codes, the passkeys and the connected accounts of a user, so that only the password signs
 * in. Call it with the account locked. Returns whether there were any.
 */
export async function removeOtherWays(em: EntityManager, user: string): Promise<boolean> {
  const hadApp = await removeSecondFactor(em, user)
  const passkeys = await em.nativeDelete(Passkey, { user }, { filters: false })
  const identities = await em.nativeDelete(LinkedIdentity, { user }, { filters: false })
  return hadApp || passkeys + identities > 0
}
