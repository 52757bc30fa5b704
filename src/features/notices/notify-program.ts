import type { SiteContext } from '../../site/site-context.ts'
import { isVerified } from '../../users/person.ts'
import type { User } from '../../users/user.ts'
import { notify } from './notify.ts'

/**
 * Queues a notice that a program has used the password of an account in an `Authorization` header from a new network. An error does
 * not fail the request.
 */
export async function notifyOfProgram(ctx: SiteContext, user: User): Promise<void> {
  if (!ctx.outbox || !ctx.guessing || !isVerified(user)) return
  const { devices } = ctx.guessing
  try {
    if (await devices.deviceOf(ctx, user.email)) return
    await devices.storeNetwork(ctx, user, (em) => notify(ctx, em, user, 'new program'))
  } catch (error) {
    ctx.app.emit('error', error, ctx)
  }
}
