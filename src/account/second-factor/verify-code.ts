import { entityManager } from '#auth/mikro-orm'
import { audit } from '../../site/audit.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { lockAccount, type User } from '../../users/user.ts'
import { limitedCode } from '../limits.ts'
import { type Notice, notify } from '../notify.ts'
import type { Services } from '../services.ts'
import { countRecoveryCodes, isRecoveryCode, useRecoveryCode } from './recovery-codes.ts'
import type { SecretBox } from './secret-box.ts'
import { useTotpCode } from './totp-factors.ts'

const codeRefused: Notice = {
  subject: 'Wrong code for your account',
  text: 'A wrong code was entered on an unknown device, after the right password or in a session of your account.',
}
const recoveryCodeUsed: Notice = {
  subject: 'A recovery code was used',
  text: 'A recovery code of your account was used in place of the authenticator app. That code no longer works.',
}

/**
 * Verifies a code of the authenticator app or a recovery code, and uses it up. Spaces, dashes and case do not matter.
 * @throws {TryLater} 429, after too many wrong codes or passwords
 */
export async function verifyCode(
  services: Services,
  ctx: SiteContext,
  user: User,
  typed: string,
): Promise<boolean> {
  const code = plainCode(typed)
  const em = entityManager(ctx)
  const isRecovery = isRecoveryCode(code)
  const isRight = await limitedCode(services, ctx, user, async () => {
    const use = isRecovery
      ? useRecoveryCode(em, user.id, code)
      : useTotpCode(em, secretBoxOf(services), { user: user.id, code })
    return (await use) || undefined
  })
  if (!isRight) await reportWrongCode(services, ctx, user)
  else if (isRecovery) await reportRecoveryCode(services, ctx, user)
  return isRight === true
}

function secretBoxOf({ secretBox }: Services): SecretBox {
  if (!secretBox) throw new Error('Set SECRETS_KEY, because an account has an authenticator app.')
  return secretBox
}

/**
 * Removes spaces and dashes from a typed code, and converts it to upper case. In a recovery code, 0, 1 and 8 become
 * the letters O, I and B, because recovery codes do not contain these digits.
 */
export function plainCode(typed: string): string {
  const code = typed.replace(/[\s-]/g, '').toUpperCase()
  if (/^\d{6}$/.test(code)) return code
  return code.replaceAll('0', 'O').replaceAll('1', 'I').replaceAll('8', 'B')
}

/** The message does not reveal whether the code was wrong or used. */
export const wrongCode = 'The code is wrong or was used before.'

async function reportWrongCode(services: Services, ctx: SiteContext, user: User): Promise<void> {
  audit(ctx, 'code refused', user)
  // No mail for a wrong code from a known device, because users often mistype codes.
  if (await services.guessing?.devices.deviceOf(ctx, user.email)) return
  await entityManager(ctx).transactional(async (em) => {
    await lockAccount(em, { id: user.id })
    await notify(services, ctx, em, user, codeRefused)
  })
}

async function reportRecoveryCode(services: Services, ctx: SiteContext, user: User): Promise<void> {
  audit(ctx, 'recovery code used', user)
  await entityManager(ctx).transactional(async (em) => {
    await lockAccount(em, { id: user.id })
    const codesLeft = await countRecoveryCodes(em, user.id)
    await notify(services, ctx, em, user, recoveryCodeUsed, { codesLeft })
  })
}
