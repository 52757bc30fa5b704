import type { Middleware } from 'koa'
import type { AuthMiddleware } from '#auth'
import type { EventName } from '../audit/event-name.ts'
import type { CredentialCheck } from '../users/credential-check.ts'
import { User } from '../users/user.ts'

/** What a request did that the store does not show in the end. */
interface Testimony {
  /** Whose session it came with: whoever signs out is gone from the store by then. */
  cameAs?: string | undefined
  /** The password that was checked last, and what came out; nothing yet, or nothing at all, if the check was refused. */
  password?: { readonly kind: 'user' | 'admin'; readonly username: string; readonly isRight?: boolean }
  /** The event that the route stands for. */
  event?: EventName
}

const testimonies = new WeakMap<object, Testimony>()
const nothing: Readonly<Testimony> = {}

/** What is known of a request so far. */
export function testimonyOf(ctx: object): Readonly<Testimony> {
  return testimonies.get(ctx) ?? nothing
}

/** Watches who comes. Stands between the session and the first route. */
export const witness: Middleware = (ctx, next) => {
  testimonies.set(ctx, { cameAs: ctx.auth.peek(User)?.id })
  return next()
}

/** The same check of a password, and whose it was and what came out is known. */
export function witnessed(check: CredentialCheck): CredentialCheck {
  return async (ctx, who, evaluate) => {
    const testimony = testimonyFor(ctx)
    testimony.password = who
    const found = await check(ctx, who, evaluate)
    testimony.password = { ...who, isRight: found !== undefined }
    return found
  }
}

/** Says in the line of a route what has happened when it answers with a success. Stands behind who may do it. */
export function recorded(event: EventName): AuthMiddleware {
  return async (ctx, next) => {
    const testimony = testimonyFor(ctx)
    // Whoever closes the account is nobody afterwards.
    testimony.cameAs ??= ctx.auth.peek(User)?.id
    await next()
    if (ctx.status < 400) testimony.event = event
  }
}

function testimonyFor(ctx: object): Testimony {
  const testimony = testimonies.get(ctx)
  if (!testimony) throw new Error('Add `app.use(witness)` before the routes.')
  return testimony
}
