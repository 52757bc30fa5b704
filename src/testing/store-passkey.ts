import { v7 as uuidv7 } from 'uuid'
import { Passkey } from '../account/passkeys/passkey.ts'
import type { Person } from './people.ts'
import type { Site } from './site.ts'

/** Inserts a passkey with identifiers and a key of the maximum length. It cannot sign in. */
export async function storePasskey(
  { orm }: Pick<Site, 'orm'>,
  { id: user }: Pick<Person, 'id'>,
): Promise<void> {
  const keys = {
    credentialId: user.padEnd(1364, 'A'),
    userHandle: 'A'.repeat(43),
    publicKey: 'A'.repeat(2000),
  }
  const state = { counter: 2 ** 32 - 1, isBackupEligible: true, isBackedUp: false, lastUsedAt: null }
  const texts = { transports: 'internal', name: '🐤' }
  const createdAt = new Date(1_700_000_000_123)
  await orm.em.fork().insert(Passkey, { id: uuidv7(), user, ...keys, ...state, ...texts, createdAt })
}
