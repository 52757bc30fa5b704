import type { EntityManager } from '@mikro-orm/core'
import { entityManager } from '#auth/mikro-orm'
import { Refusal } from '../../refusal.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { lockAccount, User } from '../../users/user.ts'
import { requireSession } from './current-session.ts'

/**
 * Runs the work of a request of the owner in a transaction that has locked the account and the session of the request. A request may
 * wait for seconds, so it must not count after its session or the credentials have ended.
 *
 * @throws {Refusal} 409 if the session has ended, or if the credentials of the account have changed
 */
export function changeAccount<Result>(
  ctx: SiteContext,
  work: (em: EntityManager, user: User) => Promise<Result>,
): Promise<Result> {
  const user = ctx.auth.require(User)
  return entityManager(ctx).transactional(async (em) => {
    if (!(await lockAccount(em, user)))
      throw new Refusal(409, 'Another request has just changed how this account signs in.')
    await requireSession(em, ctx)
    return work(em, user)
  })
}
