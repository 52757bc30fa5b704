import type { MikroORM } from '@mikro-orm/core'
import type { Context, Middleware, Next } from 'koa'
import { networkOf } from '../throttle/network.ts'
import type { Throttle, Try } from '../throttle/throttle.ts'
import { claimed, mountCredentialCheck } from '../users/credential-check.ts'
import type { Applicant } from '../users/hashing-slots.ts'
import { hashingFor } from '../users/password.ts'
import { User } from '../users/user.ts'
import { authenticationEvent } from './authentication-event.ts'
import { Devices, knownFor } from './devices.ts'
import { HostCookie } from './host-cookie.ts'
import { witnessed } from './witness.ts'

const throttles = new WeakMap<object, Throttle>()

/**
 * Puts the throttle around every check of a password, and remembers the devices that people sign in from, so that
 * strangers who guess cannot keep them out, neither by their allowances nor in the queue for bcrypt.
 */
export function guessing(throttle: Throttle, orm: MikroORM, { isTls }: { isTls: boolean }): Middleware {
  const cookie = new HostCookie('device', { isTls })
  const devices = new Devices(orm)

  const check = witnessed(async (ctx, who, evaluate) => {
    const { address, hasLeft } = originOf(ctx)
    const device = who.kind === 'user' ? await knownDevice(ctx, who.username) : undefined
    const account = claimed(who)
    const applicant = device === undefined ? strangerOf(ctx) : { from: account, isKnown: true, hasLeft }
    return throttle.attempt({ action: 'password', account, device, address, hasLeft }, () =>
      hashingFor(applicant, evaluate),
    )
  })

  return (ctx, next) => {
    throttles.set(ctx, throttle)
    mountCredentialCheck(ctx, check)
    // Without a body nobody signs in or up and there is no new password, and most requests have none.
    return 'body' in ctx.request ? attended(ctx, next) : next()
  }

  async function attended(ctx: Context, next: Next): Promise<void> {
    // What is hashed after a check, such as a new password, is part of something that has begun: it waits for nobody's socket.
    await hashingFor({ ...strangerOf(ctx), hasLeft: () => false }, next)
    const event = authenticationEvent(ctx)
    // The API signs nobody in who signs up. With a password the devices change, all but the one that it was changed from.
    const isFromDevice = event === 'password changed' && !ctx.auth.credentialsSent
    if ((event === 'signed in' || event === 'signed up' || isFromDevice) && ctx.auth.peek(User))
      await remember(ctx)
  }

  async function knownDevice(ctx: Pick<Context, 'cookies'>, email: string): Promise<string | undefined> {
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

const unlimited = witnessed((_ctx, _who, evaluate) => evaluate())

/** In the place of `guessing` where `THROTTLE=off` says so: everything may be tried as often as anybody likes. */
export const unlimitedGuessing: Middleware = (ctx, next) => {
  mountCredentialCheck(ctx, unlimited)
  return next()
}

/** Counts something else that may not be done as often as anybody likes, whether it succeeds or not. */
export function limited<Result>(
  ctx: Pick<Context, 'ip' | 'req'>,
  attempt: Pick<Try, 'action' | 'account'>,
  evaluate: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  const evaluateInTurn = () => hashingFor(strangerOf(ctx), evaluate)
  return throttles.get(ctx)?.attempt({ ...attempt, ...originOf(ctx) }, evaluateInTurn) ?? evaluate()
}

/** Counts a look-up of a stranger that costs no work. */
export function countLookUp(ctx: Pick<Context, 'ip'>): void {
  throttles.get(ctx)?.countLookUp(ctx.ip)
}

function strangerOf(ctx: Pick<Context, 'ip' | 'req'>): Applicant {
  const { address, hasLeft } = originOf(ctx)
  return { from: networkOf(address), isKnown: false, hasLeft }
}

function originOf({ ip, req }: Pick<Context, 'ip' | 'req'>): Required<Pick<Try, 'address' | 'hasLeft'>> {
  return { address: ip, hasLeft: () => req.socket.destroyed }
}
