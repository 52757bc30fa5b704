import { createHmac } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/core'
import { validate as isUUID } from 'uuid'
import { Passkey } from './passkey.ts'

/** The maximum number of passkeys of an account. */
export const maxPasskeys = 20

/** Identifies one passkey of a user. */
export interface OwnPasskey {
  readonly user: string
  readonly id: string
}

/** The passkeys of a user, oldest first. */
export function listPasskeys(em: EntityManager, user: string): Promise<Passkey[]> {
  return em.find(Passkey, { user }, { orderBy: { id: 'asc' }, disableIdentityMap: true })
}

/** Finds a passkey of the user. */
export async function findPasskey(em: EntityManager, own: OwnPasskey): Promise<Passkey | null> {
  return isUUID(own.id) ? em.findOne(Passkey, keyOf(own), { disableIdentityMap: true }) : null
}

/** Renames a passkey. Returns whether the user has it. */
export async function renamePasskey(em: EntityManager, own: OwnPasskey, name: string): Promise<boolean> {
  return isUUID(own.id) && (await em.nativeUpdate(Passkey, keyOf(own), { name })) === 1
}

/** Removes a passkey. Returns whether the user had it. */
export async function removePasskey(em: EntityManager, own: OwnPasskey): Promise<boolean> {
  return isUUID(own.id) && (await em.nativeDelete(Passkey, keyOf(own))) === 1
}

/**
 * The user handle of an account. All its passkeys have the same one. For the first passkey, it is derived from the account id, so
 * that two open pages use the same handle. It reveals nothing about the user (WebAuthn §14.6.1).
 */
export function userHandleOf(user: string, own: readonly Passkey[], key: Buffer): string {
  return own[0]?.userHandle ?? createHmac('sha256', key).update(`user handle\0${user}`).digest('base64url')
}

function keyOf({ user, id }: OwnPasskey): OwnPasskey {
  return { user, id: id.toLowerCase() }
}
