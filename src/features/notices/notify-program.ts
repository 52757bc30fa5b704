import { entityManager } from '#auth/mikro-orm'
import type { SiteContext } from '../../site/site-context.ts'
import { countLocked } from '../../throttle/count-locked.ts'
import { networkOf } from '../../throttle/network.ts'
import { lockAccount } from '../../users/lock-account.ts'
import { isVerified } from '../../users/person.ts'
import type { User } from '../../users/user.ts'
import { notify } from './notify.ts'

/**
 * Queues a notice that a program has used the password of an account in an `Authorization` header. Programs keep no cookie of a
 * known device, so their network identifies them: one notice in 30 days for each network. An error does not fail the request.
 */
export async function notifyOfProgram(ctx: SiteContext, user: User): Promise<void> {
  if (!ctx.outbox || !ctx.guessing || !isVerified(user)) return
  const { id, email, passwordChangedAt } = user
  // A new password forgets the networks, as it forgets the known devices.
  const account = `${id} ${passwordChangedAt.getTime()} ${networkOf(ctx.ip)}`
  try {
    if (await ctx.guessing.devices.deviceOf(ctx, email)) return
    await entityManager(ctx)
      .fork()
      .transactional(async (em) => {
        if (!(await lockAccount(em, { id, passwordChangedAt }))) return
        if (await countLocked(em, { action: 'program', account })) await notify(ctx, em, user, 'new program')
      })
  } catch (error) {
    ctx.app.emit('error', error, ctx)
  }
}
