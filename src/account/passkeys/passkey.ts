import { createHmac } from 'node:crypto'
import { defineEntity, type EntityManager, p } from '@mikro-orm/core'
import type { AuthenticatorTransport, PublicKeyCredentialDescriptorJSON } from '@simplewebauthn/server'
import { v7 as uuidv7 } from 'uuid'
import { User } from '../../users/user.ts'

const PasskeySchema = defineEntity({
  name: 'Passkey',
  tableName: 'passkeys',
  properties: {
    // The public identifier.
    id: p
      .uuid()
      .primary()
      .onCreate(() => uuidv7()),
    // At most 1023 bytes in base64url (WebAuthn §4).
    credentialId: p.string().length(1364).unique().hidden(),
    user: () => p.manyToOne(User).deleteRule('cascade').index().hidden(),
    // 32 bytes in base64url, the same for all passkeys of an account. The authenticator sends this value at sign-in.
    userHandle: p.string().length(43).hidden(),
    // The COSE key in base64url. An RSA key of 8192 bits has about 1,400 characters.
    publicKey: p.string().length(2000).hidden(),
    // The signature counter, or 0 if the authenticator has none.
    counter: p.bigint('number').hidden(),
    // How the browser reaches the authenticator, such as `hybrid internal`.
    transports: p.string().length(100).hidden(),
    name: p.string().length(100),
    // Whether the passkey may be copied to other devices, for example by a password manager.
    isBackupEligible: p.boolean().hidden(),
    isBackedUp: p.boolean().hidden(),
    createdAt: p.datetime(),
    lastUsedAt: p.datetime().nullable(),
  },
})

/** A passkey of a user. The row contains no secret, because the private key stays in the authenticator. */
export class Passkey extends PasskeySchema.class {}

PasskeySchema.setClass(Passkey)

/** The maximum number of passkeys of a user. */
export const maxPasskeys = 20

/** The passkeys of a user, oldest first. */
export function listPasskeys(em: EntityManager, user: string): Promise<Passkey[]> {
  return em.find(Passkey, { user }, { orderBy: { id: 'asc' }, disableIdentityMap: true })
}

/**
 * The user handle, which all passkeys of an account share. It reveals nothing about the user (WebAuthn §14.6.1). Before the first
 * passkey, the handle is derived from the account id, so that two open pages use the same handle.
 */
export function userHandleOf(user: string, own: readonly Passkey[], key: Buffer): string {
  return own[0]?.userHandle ?? createHmac('sha256', key).update(`user handle\0${user}`).digest('base64url')
}

const knownTransports: readonly unknown[] = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']

/** The known transports of an answer, as the column `transports` stores them. */
export function storedTransports(transports: unknown): string {
  return Array.isArray(transports)
    ? knownTransports.filter((each) => transports.includes(each)).join(' ')
    : ''
}

/** The record of a passkey (docs/http-api.md, "Records"). */
export function passkeyRecord({ id, name, createdAt, lastUsedAt = null }: Passkey) {
  return { id, name, createdAt, lastUsedAt }
}

/** The descriptor of a passkey in the options of a ceremony. */
export function descriptor({ credentialId: id, transports }: Passkey): PublicKeyCredentialDescriptorJSON {
  // Only `storedTransports` writes the column.
  const stored = transports.split(' ').filter((each) => each !== '') as AuthenticatorTransport[]
  return { id, type: 'public-key', ...(stored.length > 0 && { transports: stored }) }
}
