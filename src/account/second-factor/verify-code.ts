import { entityManager } from '#auth/mikro-orm'
import { FieldRefusal, Refusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { challenges } from '../../site/challenges.ts'
import { fieldsOf } from '../../site/form.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { lockAccount } from '../../users/lock-account.ts'
import type { SecondFactorCheck, User } from '../../users/user.ts'
import { attemptedForm } from '../attempted-form.ts'
import { limitedCode } from '../limits.ts'
import { notify } from '../notify.ts'
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
    const use = isRecovery
      ? useRecoveryCode(em, user.id, code)
      : useTotpCode(em, secretBoxOf(ctx), { user: user.id, code })
    return (await use) || undefined
  })
  if (!isRight) await report(ctx, user, 'code refused')
  else if (isRecovery) await report(ctx, user, 'recovery code used')
  return isRight === true
}

function secretBoxOf({ secretBox }: SiteContext): SecretBox {
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

async function report(ctx: SiteContext, user: User, event: 'code refused' | 'recovery code used') {
  audit(ctx, event, user)
  // No mail for a wrong code from a known device, because users often mistype codes.
  if (event === 'code refused' && (await ctx.guessing?.devices.deviceOf(ctx, user.email))) return
  await entityManager(ctx).transactional(async (em) => {
    await lockAccount(em, { id: user.id })
    const codesLeft = event === 'code refused' ? undefined : await countRecoveryCodes(em, user.id)
    await notify(ctx, em, user, event, { codesLeft })
  })
}

/** The password is right, but the account also needs a code. */
export class SecondFactorRequired extends Refusal {
  override readonly name = 'SecondFactorRequired'
  readonly user: User

  constructor(user: User, status: 401 | 403, detail: string, headers?: Readonly<Record<string, string>>) {
    super('second_factor_required', detail, headers, status)
    this.user = user
  }
}

/**
 * Requires a code after the right password of an account with a second factor. `User.findByCredentials` calls it, so it covers every
 * sign-in by password. A body has the code in the field `code`. Basic credentials cannot contain a code.
 *
 * @throws {SecondFactorRequired} 403 with Basic, 401 without a code
 * @throws {Refusal} 401 if the code is wrong, 400 if it is not a string
 */
export const secondFactorCheck: SecondFactorCheck = async (ctx, user) => {
  // `createApp` sets this check, so the context is a `SiteContext`.
  const site = ctx as SiteContext
  const { code } = fieldsOf(site)
  const isBasic = site.req.headers.authorization !== undefined
  if (isBasic || code === undefined) {
    audit(site, 'code required', user, { detail: attemptedForm(site) })
    throw isBasic
      ? new SecondFactorRequired(user, 403, 'Basic is not enough for this account. Use an API token.')
      : new SecondFactorRequired(
          user,
          401,
          'Send the code of the authenticator app as `code`.',
          challenges(site),
        )
  }
  if (typeof code !== 'string') {
    const detail = 'Send the code as a string, because it can start with 0.'
    throw new FieldRefusal('validation_failed', [{ field: 'code', detail }])
  }
  if (!(await verifyCode(site, user, code)))
    throw new Refusal('second_factor_wrong', wrongCode, challenges(site))
  site.state.methods = methodsWithCode
}
