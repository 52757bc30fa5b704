import { type AuthContext, type AuthMiddleware, stateOf } from './auth.ts'
import { type Duration, milliseconds } from './authentication.ts'
import { type Class, requireBoolean, requireClass } from './checks.ts'
import { Forbidden, Misuse, Unauthorized } from './errors.ts'
import { challengesFor, unauthorized } from './unauthorized.ts'
import { warnOfRoute } from './warnings.ts'

/** How the user must have authenticated. */
export interface ProofOptions {
  /**
   * The maximum time since the user authenticated, such as `10m`. The user of a token is not fresh, unless the authenticator
   * has `methods` or `signsIn`.
   */
  readonly fresh?: Duration
  /** Methods that the user must have authenticated with, all of them, in values of RFC 8176, such as `['otp']`. */
  readonly methods?: readonly string[]
}

/** The options of a guard. */
export interface GuardOptions<User extends object = object> extends ProofOptions {
  /** Whether the user may go on. If not, the response is 403. */
  readonly allow?: (user: User, ctx: AuthContext) => boolean | Promise<boolean>
}

/**
 * Rejects a request without an authenticated user of that class, or of one of several classes: with 401, or with 503 if an
 * authenticator has failed. With `allow`, rejects a user who may not go on with 403. Mount it after the authenticators.
 */
export function guard<Type extends Class>(
  types: Type | readonly Type[],
  options: GuardOptions<InstanceType<Type>> = {},
): AuthMiddleware {
  const condition = conditionOf(types, options, ['fresh', 'methods', 'allow'])
  const pass = (ctx: AuthContext, next: () => unknown, allowed?: readonly Class[]) =>
    isAdmitted(ctx, condition, allowed) ? next() : refuse(ctx, condition)
  const { allow } = options
  if (allow === undefined) return (ctx, next) => pass(ctx, next)
  if (typeof allow !== 'function') throw new Misuse('The option `allow` of a guard must be a function.')
  // The user is an instance of its class.
  const isAllowed = (user: object, ctx: AuthContext) => allow(user as InstanceType<Type>, ctx)
  return async (ctx, next) => pass(ctx, next, await allowedTypes(ctx, condition.types, isAllowed))
}

/** The classes whose user may go on. Throws `Forbidden` if no user may. */
async function allowedTypes(
  ctx: AuthContext,
  types: readonly Class[],
  allow: (user: object, ctx: AuthContext) => boolean | Promise<boolean>,
): Promise<readonly Class[]> {
  stateOf(ctx).requireIdle()
  const known = types.filter((type) => ctx.auth.has(type))
  const allowed: Class[] = []
  for (const type of known)
    if (requireBoolean(await allow(ctx.auth.require(type), ctx), 'The result of `allow`')) allowed.push(type)
  if (known.length > allowed.length && allowed.length === 0) throw new Forbidden('You may not do this.')
  return allowed
}

/** What a guard or a redirect requires. */
export interface Condition {
  readonly types: readonly Class[]
  /** In milliseconds. */
  readonly maxAge: number | undefined
  readonly methods: readonly string[]
}

/** Reads the classes and the options of a guard or a redirect. Throws `Misuse` for a wrong one. */
export function conditionOf(
  types: Class | readonly Class[],
  options: ProofOptions,
  names: readonly string[] = ['fresh', 'methods'],
): Condition {
  const list = [types].flat()
  for (const type of list) requireClass(type)
  if (list.length === 0) throw new Misuse('Name at least one class, as in `guard([User, Admin])`.')
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new Misuse(
      "Pass several classes as a list, and the options as an object: `guard([User], { fresh: '10m' })`.",
    )
  const unknown = Object.keys(options).find((name) => !names.includes(name))
  // A misspelt option would let everybody through.
  if (unknown !== undefined)
    throw new Misuse(`There is no option \`${unknown}\` here. The options are ${names.join(', ')}.`)
  const { fresh, methods = [] } = options
  if (!Array.isArray(methods) || methods.some((each) => typeof each !== 'string'))
    throw new Misuse("`methods` must be a list, as in `{ methods: ['otp'] }`.")
  return { types: list, maxAge: fresh === undefined ? undefined : milliseconds(fresh), methods }
}

/**
 * Whether a user of one of the classes is authenticated, and in the required way. Warns of a route that rejects every request,
 * because no authenticator before the guard can satisfy it.
 */
export function isAdmitted(ctx: AuthContext, condition: Condition, types = condition.types): boolean {
  const state = stateOf(ctx)
  state.requireIdle()
  if (types.some((type) => ctx.auth.has(type) && hasProof(ctx, type, condition))) return true
  if (state.authenticators.length === 0) {
    const name = condition.types.map((type) => type.name).join(' or ')
    const sentence = `has a guard or a redirect and no authenticator before it. Add one for ${name}.`
    warnOfRoute(ctx, 'KOA_AUTH_UNGUARDED', sentence)
  } else if (
    types.some((type) => ctx.auth.has(type)) &&
    !state.authenticators.some((each) => each.signsIn || each.methods || each.recorded)
  ) {
    const sentence =
      'requires a fresh user, but its authenticators accept only tokens. Add a session or password authenticator.'
    warnOfRoute(ctx, 'KOA_AUTH_NEVER_FRESH', sentence)
  }
  return false
}

function hasProof({ auth }: AuthContext, type: Class, { maxAge, methods }: Condition): boolean {
  if (maxAge !== undefined && !auth.isFresh(type, maxAge)) return false
  return methods.every((each) => auth.authentication(type)?.methods.includes(each))
}

/** Rejects a request with 401, because the user is missing or has to authenticate again. */
export function refuse(ctx: AuthContext, { types, maxAge = 0 }: Condition): never {
  const state = stateOf(ctx)
  if (!types.some((type) => ctx.auth.has(type))) throw unauthorized(state)
  const challenges = challengesFor(state, Math.floor(maxAge / 1000))
  throw new Unauthorized(challenges, 'ERR_AUTH_CONFIRMATION_REQUIRED')
}
