import { type AuthMiddleware, BasicAuthenticator } from '#auth'
import { Refusal } from '../refusal.ts'
import { audit } from '../site/audit.ts'
import { User } from '../users/user.ts'
import { attemptedForm } from './attempted-form.ts'
import { checkPassword } from './password-check.ts'
import type { Services } from './services.ts'

/** Accepts a user's address and password as Basic credentials. They cannot contain a code, so an account with a second factor gets 403. */
export function basic(services: Services): AuthMiddleware {
  return BasicAuthenticator.from(User, async ({ username: email, password }, ctx) => {
    const { outcome, user } = await checkPassword(services, ctx, { email, password, match: 'exact' })
    if (outcome !== 'needs-code') return user
    audit(ctx, 'code required', user, { detail: attemptedForm(ctx) })
    const detail = 'Basic is not enough for this account. Use an API token.'
    throw new Refusal('second_factor_required', detail, {}, 403)
  })
}
