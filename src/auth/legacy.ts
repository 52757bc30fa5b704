import { type AuthContext, type AuthMiddleware, authOf, type Class, isAnswer } from './auth.ts'
import { bearerAuthorization } from './authorization.ts'
import { Forbidden, Undecided } from './errors.ts'

/** A stored token of the older variant, with its parent relation (specification, "Older variant models"). */
export interface LegacyToken<User extends object> {
  readonly user: User
}

type Found<User extends object> = LegacyToken<User> | null | undefined

/** The older variant's token model: finds the stored token that was sent, and its user; `undefined` if there is none. */
export interface LegacyTokenType<User extends object> {
  find(token: string, ctx: AuthContext): Found<User> | Promise<Found<User>>
}

/** The older variant's user type: a class that names its token model (specification, "Older variant"). */
export type TokenAuthenticatable<User extends object = object> = Class<User> & {
  readonly TokenType: LegacyTokenType<User>
}

/**
 * The older variant's token authentication, for a group or the whole application: logs in the user of the bearer token,
 * and rejects with 403 a token that is not stored, and none at all, without saying which.
 */
export function tokenAuthentication<User extends object>(type: TokenAuthenticatable<User>): AuthMiddleware {
  return async (ctx, next) => {
    const auth = authOf(ctx)
    const bearer = bearerAuthorization(ctx.req)
    const found = bearer && (await find(type.TokenType, bearer.token, ctx))
    if (!found) throw new Forbidden('You may not see this.')
    auth.login(found.user, type)
    return next()
  }
}

/** The older variant's `require`: the authenticated user of that type; throws `Forbidden` if there is none. */
export function assertAuthenticated<User extends object>(ctx: AuthContext, type: Class<User>): User {
  const user = authOf(ctx).get(type)
  if (!user) throw new Forbidden('You may not see this.')
  return user
}

async function find<User extends object>(tokens: LegacyTokenType<User>, token: string, ctx: AuthContext) {
  try {
    return await tokens.find(token, ctx)
  } catch (error) {
    throw isAnswer(error) ? error : new Undecided(error)
  }
}
