import { UniqueConstraintViolationException } from '@mikro-orm/core'
import { entityManager } from '#auth/mikro-orm'
import { FieldRefusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { emailKey } from '../../users/email.ts'
import { consumeOneTimeToken, type Grant, OneTimeToken } from '../../users/one-time-tokens.ts'
import { User } from '../../users/user.ts'
import { notify } from '../notices/notify.ts'
import { addressInUse } from '../sign-up/sign-up.ts'

/**
 * Changes the address of an account to the one that the link was sent to, and ends the account's other links. Sessions and tokens
 * continue. The caller has checked that the link belongs to the signed-in user.
 *
 * @returns `undefined` if the link is not valid
 * @throws {FieldRefusal} 409, if another account has the address by now. The link stays valid
 */
export async function confirmNewAddress(ctx: SiteContext, token: string): Promise<Grant | undefined> {
  try {
    const grant = await entityManager(ctx).transactional(async (em) => {
      const grant = await consumeOneTimeToken(em, token, 'change-email')
      if (!grant) return undefined
      const { id, name } = grant.user
      const changed = { email: grant.email, emailVerifiedAt: new Date() }
      await em.nativeUpdate(User, { id }, { ...changed, emailKey: emailKey(grant.email) })
      await em.nativeDelete(OneTimeToken, { user: id })
      await notify(ctx, em, grant.user, 'address changed')
      await notify(ctx, em, { id, name, ...changed }, 'address changed')
      return grant
    })
    if (grant) audit(ctx, 'address changed', grant.user, { detail: `${grant.user.email} → ${grant.email}` })
    return grant
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException)
      throw new FieldRefusal('email_taken', [addressInUse])
    throw error
  }
}
