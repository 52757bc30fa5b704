import { createHmac } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/core'
import { Passkey } from './passkey.ts'

export const maxPasskeys = 20

/** The passkeys of a user, oldest first. */
export function listPasskeys(em: EntityManager, user: string): Promise<Passkey[]> {
  return em.find(Passkey, { user }, { orderBy: { id: 'asc' }, disableIdentityMap: true })
}

/**
 * The user handle, which all passkeys of an account share. It reveals nothing about the user (WebAuthn §14.6.1). The first handle is
 * derived from the account id, so that two open pages use the same handle.
 */
export function userHandleOf(user: string, own: readonly Passkey[], key: Buffer): string {
  return own[0]?.userHandle ?? createHmac('sha256', key).update(`user handle\0${user}`).digest('base64url')
}
