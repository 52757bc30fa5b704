import type { SiteContext } from '../../site/site-context.ts'
import type { User } from '../../users/user.ts'
import type { Services } from '../services.ts'
import type { OnNewDevice } from './devices.ts'

/** Stores the user's device, so that guesses by others cannot lock the user out. An error does not fail the request. */
export async function storeDevice(
  services: Services,
  ctx: SiteContext,
  user: User,
  onNew?: OnNewDevice,
): Promise<void> {
  try {
    await services.guessing?.devices.store(ctx, user, onNew)
  } catch (error) {
    ctx.app.emit('error', error, ctx)
  }
}
