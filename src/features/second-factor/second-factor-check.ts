import { FieldRefusal, Refusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { challenges } from '../../site/challenges.ts'
import { fieldsOf } from '../../site/form.ts'
import type { SiteContext } from '../../site/site-context.ts'
import type { SecondFactorCheck, User } from '../../users/user.ts'
import { attemptedForm } from '../sign-in/attempted-form.ts'
import { methodsWithCode, verifyCode, wrongCode } from './verify-code.ts'

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
 * route that accepts passwords. A body has the code in the field `code`. Basic credentials cannot contain a code.
 *
 * @throws {SecondFactorRequired} 403 with Basic, 401 without a code
 * @throws {Refusal} 401 if the code is wrong, 400 if it is not a string
 */
export const secondFactorCheck: SecondFactorCheck = async (ctx, user) => {
  // `createApp` sets this check, so the context is the site's.
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
