import { randomBytes } from 'node:crypto'
import { defineEntity, type EntityManager, p } from '@mikro-orm/core'
import { digestOf } from '../../database/identifier.ts'
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

/** Replaces the recovery codes of an account, and returns them. Call it in the transaction that locked the account. */
export async function replaceRecoveryCodes(em: EntityManager, user: string): Promise<string[]> {
  const codes = Array.from({ length: codeCount }, () => base32(randomBytes(codeBytes)))
  const createdAt = new Date()
  await em.nativeDelete(RecoveryCode, { user })
  await em.insertMany(
    RecoveryCode,
    codes.map((code) => ({ digest: digestOf(code), user, createdAt })),
  )
  return codes
}

/** A code in groups of four characters. */
export function inGroups(code: string): string {
  return code.replace(/.{4}(?=.)/g, '$&-')
}

/** Whether an account has one of these codes, unused. */
export async function hasOneOf(em: EntityManager, user: string, codes: readonly string[]): Promise<boolean> {
  return (await em.count(RecoveryCode, { user, digest: { $in: codes.map(digestOf) } })) > 0
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
