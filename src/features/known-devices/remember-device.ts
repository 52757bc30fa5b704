import type { Context } from 'koa'
import type { SiteContext } from '../../site/site-context.ts'
import type { User } from '../../users/user.ts'

/** Remembers the device of a user who has just signed in, so that strangers who guess cannot keep them out. */
export async function rememberDevice(ctx: SiteContext, user: User): Promise<void> {
  try {
    // The cookie's class wants Koa's widest context and only sets a header.
    await ctx.guessing?.devices.remember(ctx as unknown as Context, user)
  } catch (error) {
    // The user is signed in all the same, on a device that is unknown next time.
    ctx.app.emit('error', error, ctx)
  }
}
