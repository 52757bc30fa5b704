import { hash, randomBytes } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/core'
import { base32 } from './base32.ts'
import { RecoveryCode } from './recovery-code.ts'

const mostCodes = 10
// 120 bits, so that an unsalted digest is safe (ASVS 6.5.2).
const codeBytes = 15

/**
 * Replaces the recovery codes of an account. Call it in the transaction that has locked the account.
 * @returns the ten codes, in groups of four characters. Only their digests are stored
 */
export async function replaceRecoveryCodes(em: EntityManager, user: string): Promise<string[]> {
  const codes = Array.from({ length: mostCodes }, () => base32(randomBytes(codeBytes)))
  const createdAt = new Date()
  await em.nativeDelete(RecoveryCode, { user })
  await em.insertMany(
    RecoveryCode,
    codes.map((code) => ({ digest: digestOf(code), user, createdAt })),
  )
  return codes.map((code) => code.replace(/.{4}(?=.)/g, '$&-'))
}

/** Whether a text has the form of a recovery code, without spaces and dashes. */
export function isRecoveryCode(text: string): boolean {
  return /^[A-Z2-7]{24}$/.test(text)
}

/** Uses up a recovery code. Returns whether the account had it: of two concurrent requests, one gets `true`. */
export async function useRecoveryCode(em: EntityManager, user: string, code: string): Promise<boolean> {
  return (await em.nativeDelete(RecoveryCode, { digest: digestOf(code), user })) === 1
}

/** The number of unused codes of an account. */
export function countRecoveryCodes(em: EntityManager, user: string): Promise<number> {
  return em.count(RecoveryCode, { user })
}

function digestOf(code: string): string {
  return hash('sha256', code, 'base64url')
}
