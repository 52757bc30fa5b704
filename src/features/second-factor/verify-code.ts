import { entityManager } from '#auth/mikro-orm'
import { audit } from '../../site/audit.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { lockAccount } from '../../users/lock-account.ts'
import type { User } from '../../users/user.ts'
import { notify } from '../notices/notify.ts'
import { limitedCode } from '../sign-in/guessing.ts'
import { countRecoveryCodes, isRecoveryCode, useRecoveryCode } from './recovery-codes.ts'
import type { SecretBox } from './secret-box.ts'
import { useTotpCode } from './totp-factors.ts'

/** The methods of a sign-in with the password and a code (RFC 8176). */
export const methodsWithCode: readonly string[] = ['pwd', 'otp', 'mfa']

/**
 * Verifies a code of the authenticator app or a recovery code, and uses it up. Spaces, dashes and case do not matter.
 * @throws {TryLater} 429, after too many wrong codes or passwords
 */
export async function verifyCode(ctx: SiteContext, user: User, typed: string): Promise<boolean> {
  const code = plainCode(typed)
  const em = entityManager(ctx)
  const isRecovery = isRecoveryCode(code)
  const isRight = await limitedCode(ctx, user, async () => {
    if (isRecovery) return (await useRecoveryCode(em, user.id, code)) || undefined
    return (await useTotpCode(em, secretBoxOf(ctx), user.id, code)) || undefined
  })
  if (!isRight) await report(ctx, user, 'code refused')
  else if (isRecovery) await report(ctx, user, 'recovery code used')
  return isRight === true
}

/** A code as typed, without spaces and dashes, in upper case. Recovery codes contain no 0, 1 and 8, so these are misread letters. */
export function plainCode(typed: string): string {
  const code = typed.replace(/[\s-]/g, '').toUpperCase()
  if (/^\d{6}$/.test(code)) return code
  return code.replaceAll('0', 'O').replaceAll('1', 'I').replaceAll('8', 'B')
}

/** The message does not reveal whether the code was wrong or used. */
export const wrongCode = 'The code is wrong or was used before.'

/** The encryption of the keys of authenticator apps. */
export function secretBoxOf({ secretBox }: SiteContext): SecretBox {
  if (!secretBox) throw new Error('Set SECRETS_KEY, because an account has an authenticator app.')
  return secretBox
}

async function report(ctx: SiteContext, user: User, event: 'code refused' | 'recovery code used') {
  audit(ctx, event, user)
  // No mail for a wrong code from a known device, because users often mistype codes.
  const isExpected = event === 'code refused' && (await ctx.guessing?.devices.deviceOf(ctx, user.email))
  if (isExpected) return
  await entityManager(ctx).transactional(async (em) => {
    await lockAccount(em, { id: user.id })
    const isRecovery = event === 'recovery code used'
    const codesLeft = isRecovery ? await countRecoveryCodes(em, user.id) : undefined
    await notify(ctx, em, user, event, { codesLeft })
  })
}
