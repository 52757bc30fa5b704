import type { EntityClass } from '@mikro-orm/core'
import { Passkey } from '../../account/passkeys/passkey.ts'
import { countRecoveryCodes } from '../../account/second-factor/recovery-codes.ts'
import { StoredSession } from '../../account/sessions/stored-session.ts'
import { hasPassword } from '../../users/has-password.ts'
import { LinkedIdentity } from '../../users/linked-identity.ts'
import type { User } from '../../users/user.ts'
import { UserToken } from '../../users/user-token.ts'
import { findAccount } from './account.ts'
import type { Call } from './command.ts'

/** Prints an account, and the numbers and the last uses of what signs in to it. */
export async function show(call: Call): Promise<string> {
  const account = await findAccount(call)
  const { id, name, email, createdAt, disabledAt = null } = account
  const access = call.noun === 'user' ? await accessOf(call, account) : {}
  const record = { id, name, email, createdAt, disabledAt, ...access }
  if (call.options.json) return JSON.stringify(record)
  const text = (value: unknown) => (value instanceof Date ? value.toISOString() : String(value ?? 'never'))
  return Object.entries(record)
    .map(([key, value]) => `${key.padEnd(18)}${text(value)}`)
    .join('\n')
}

async function accessOf({ em }: Call, { id, emailVerifiedAt = null, secondFactorAt = null }: User) {
  const [passkeys, passkeyUsedAt] = await usesOf(Passkey, 'lastUsedAt')
  const [identities, identityUsedAt] = await usesOf(LinkedIdentity, 'lastUsedAt')
  const [sessions, sessionUsedAt] = await usesOf(StoredSession, 'seenAt')
  const [tokens, tokenUsedAt] = await usesOf(UserToken, 'lastUsedAt')
  return {
    ...{ emailVerifiedAt, hasPassword: await hasPassword(em, id) },
    ...{ appAddedAt: secondFactorAt, recoveryCodes: await countRecoveryCodes(em, id) },
    ...{ passkeys, passkeyUsedAt, identities, identityUsedAt, sessions, sessionUsedAt, tokens, tokenUsedAt },
  }

  async function usesOf(entity: EntityClass<object>, property: string): Promise<[number, Date | null]> {
    const where: object = { user: id }
    const rows = await em.find(entity, where, { filters: false, disableIdentityMap: true })
    const times = rows.flatMap((row): Date | [] => Reflect.get(row, property) ?? [])
    const [latest = null] = times.toSorted((one, other) => other.getTime() - one.getTime())
    return [rows.length, latest]
  }
}
