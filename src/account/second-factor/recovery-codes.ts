import { hkdfSync } from 'node:crypto'
import { defineEntity, type EntityManager, p } from '@mikro-orm/core'
import { digestOf, newIdentifier } from '../../database/identifier.ts'
import { User } from '../../users/user.ts'
import { base32 } from './base32.ts'

const RecoveryCodeSchema = defineEntity({
  name: 'RecoveryCode',
  tableName: 'recovery_codes',
  properties: {
    // SHA-256 of the code.
    digest: p.string().length(43).primary(),
    user: () => p.manyToOne(User).deleteRule('cascade').index(),
    createdAt: p.datetime(),
  },
})

/** A code that replaces the authenticator app once. The row is deleted when the code is used. */
export class RecoveryCode extends RecoveryCodeSchema.class {}

RecoveryCodeSchema.setClass(RecoveryCode)

const codeCount = 10
// 120 bits, so that an unsalted digest is safe (ASVS 6.5.2).
const codeBytes = 15

/**
 * Replaces the recovery codes of an account. Call it in the transaction that locked the account.
 *
 * @returns the seed of the ten codes, 256 random bits. The database stores only the digests of the codes
 */
export async function replaceRecoveryCodes(em: EntityManager, user: string): Promise<string> {
  const seed = newIdentifier()
  const createdAt = new Date()
  await em.nativeDelete(RecoveryCode, { user })
  await em.insertMany(
    RecoveryCode,
    derive(seed).map((code) => ({ digest: digestOf(code), user, createdAt })),
  )
  return seed
}

/** The ten codes of a seed, in groups of four characters. */
export function recoveryCodesOf(seed: string): string[] {
  return derive(seed).map((code) => code.replace(/.{4}(?=.)/g, '$&-'))
}

/** Whether an account has an unused code of a seed. */
export async function hasCodesOf(em: EntityManager, user: string, seed: string): Promise<boolean> {
  return (await em.count(RecoveryCode, { user, digest: { $in: derive(seed).map(digestOf) } })) > 0
}

/** Whether a text has the form of a recovery code without its dashes. */
export function isRecoveryCode(text: string): boolean {
  return /^[A-Z2-7]{24}$/.test(text)
}

/** Uses up a recovery code. Returns whether the account had it. Only one of two concurrent calls returns `true`. */
export async function useRecoveryCode(em: EntityManager, user: string, code: string): Promise<boolean> {
  return (await em.nativeDelete(RecoveryCode, { digest: digestOf(code), user })) === 1
}

export function countRecoveryCodes(em: EntityManager, user: string): Promise<number> {
  return em.count(RecoveryCode, { user })
}

// The codes are derived from one seed (RFC 5869), because a cookie passes the seed to the page that shows them.
function derive(seed: string): string[] {
  const bytes = Buffer.from(hkdfSync('sha256', seed, '', 'recovery codes', codeCount * codeBytes))
  return Array.from({ length: codeCount }, (_, i) =>
    base32(bytes.subarray(i * codeBytes, (i + 1) * codeBytes)),
  )
}
