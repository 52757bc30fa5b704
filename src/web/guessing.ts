import type { MikroORM } from '@mikro-orm/core'
import type { Context, Middleware } from 'koa'
import { Slot } from '#auth'
import type { Throttle, Try } from '../throttle/throttle.ts'
import { claimed, mountCredentialCheck } from '../users/credential-check.ts'
import { User } from '../users/user.ts'
import { authenticationEvent } from './authentication-event.ts'
import { Devices, knownFor } from './devices.ts'
import { HostCookie } from './host-cookie.ts'

const throttles = new Slot<Throttle>('throttle')

/**
 * Puts the throttle around every check of a password, and remembers the devices that people sign in from, so that
 * strangers who guess cannot keep them out.
 */
export function guessing(throttle: Throttle, orm: MikroORM, { isTls }: { isTls: boolean }): Middleware {
  const cookie = new HostCookie('device', { isTls })
  const devices = new Devices(orm)

  return async (ctx, next) => {
    throttles.set(ctx, throttle)
    mountCredentialCheck(ctx, async (who, check) => {
      const device = who.kind === 'user' ? await knownDevice(ctx, who.username) : undefined
      const attempt = { action: 'password', account: claimed(who), device, ...originOf(ctx) } as const
      return throttle.attempt(attempt, check)
    })
    await next()
    const event = authenticationEvent(ctx)
    // The API signs nobody in who signs up. With a password the devices change, all but the one that it was changed from.
    const isFromDevice = event === 'password changed' && !ctx.auth.credentialsSent
    if ((event === 'signed in' || event === 'signed up' || isFromDevice) && ctx.auth.peek(User))
      await remember(ctx)
  }

  async function knownDevice(ctx: Context, email: string): Promise<string | undefined> {
    const value = cookie.read(ctx)
    return value !== undefined && (await devices.isKnown(value, email)) ? value : undefined
  }

  async function remember(ctx: Context): Promise<void> {
    const user = ctx.auth.require(User)
    try {
      cookie.write(ctx, await devices.remember(cookie.read(ctx), user.id), knownFor)
    } catch (error) {
      // Whoever has signed in is signed in, on a device that is not known next time.
      ctx.app.emit('error', error, ctx)
    }
  }
}

/** In the place of `guessing` where `THROTTLE=off` says so: everything may be tried as often as anybody likes. */
export const unlimitedGuessing: Middleware = (ctx, next) => {
  mountCredentialCheck(ctx, (_who, check) => check())
  return next()
}

/** Counts something else that may not be done as often as anybody likes, whether it succeeds or not. */
export function limited<Result>(
  ctx: Pick<Context, 'ip' | 'req'>,
  attempt: Pick<Try, 'action' | 'account'>,
  evaluate: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  return throttles.get(ctx)?.attempt({ ...attempt, ...originOf(ctx) }, evaluate) ?? evaluate()
}

function originOf({ ip, req }: Pick<Context, 'ip' | 'req'>): Pick<Try, 'address' | 'hasLeft'> {
  return { address: ip, hasLeft: () => req.socket.destroyed }
}
