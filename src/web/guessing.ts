import { hash } from 'node:crypto'
import type { MikroORM } from '@mikro-orm/core'
import type { Context, Middleware } from 'koa'
import { Slot } from '#auth'
import type { Throttle, Try } from '../throttle/throttle.ts'
import { claimed, mountCredentialCheck } from '../users/credential-check.ts'
import { User } from '../users/user.ts'
import { authenticationEvent } from './authentication-event.ts'
import { Device } from './device.ts'
import { HostCookie } from './host-cookie.ts'

const throttles = new Slot<Throttle>('throttle')
const year = 365 * 24 * 60 * 60 * 1000

/**
 * Puts the throttle around every check of a password, and remembers the devices that people sign in from, so that
 * strangers who guess cannot keep them out.
 */
export function guessing(throttle: Throttle, orm: MikroORM, { isTls }: { isTls: boolean }): Middleware {
  const cookie = new HostCookie('device', { isTls })

  return async (ctx, next) => {
    throttles.set(ctx, throttle)
    mountCredentialCheck(ctx, async (who, check) => {
      const device = who.kind === 'user' ? await knownDevice(ctx, who.username) : undefined
      return throttle.attempt({ action: 'password', account: claimed(who), address: ctx.ip, device }, check)
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
    if (value === undefined) return undefined
    const isKnown = await orm.em.fork().count(Device, { digest: digestOf(value), user: { email } })
    return isKnown > 0 ? value : undefined
  }

  /** What the device's cookie holds, if we gave it out: somebody else may have put another there, to share it. */
  async function ownValue(ctx: Context): Promise<string | undefined> {
    const value = cookie.read(ctx)
    if (value === undefined) return undefined
    const isOurs = await orm.em.fork().count(Device, { digest: digestOf(value) }, { filters: false })
    return isOurs > 0 ? value : undefined
  }

  async function remember(ctx: Context): Promise<void> {
    const user = ctx.auth.require(User)
    try {
      const value = (await ownValue(ctx)) ?? HostCookie.newValue()
      await orm.em.fork().upsert(Device, { digest: digestOf(value), user: user.id, seenAt: new Date() })
      cookie.write(ctx, value, year)
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
  ctx: { readonly ip: string },
  attempt: Omit<Try, 'address' | 'device'>,
  evaluate: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  return throttles.get(ctx)?.attempt({ ...attempt, address: ctx.ip }, evaluate) ?? evaluate()
}

function digestOf(value: string): string {
  return hash('sha256', value, 'base64url')
}
