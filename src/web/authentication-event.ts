import type { Context } from 'koa'
import { type Auth, BasicAuthenticator } from '#auth'
import type { Account } from '../audit/audit.ts'
import type { EventName } from '../audit/event-name.ts'
import { Admin } from '../users/admin.ts'
import { User } from '../users/user.ts'
import { queried } from './query.ts'
import { testimonyOf } from './witness.ts'

type Answered = Context & { auth?: Auth }

/** The event of a request that has been answered, told from its route and from the store that it leaves behind. */
export function authenticationEvent(ctx: Answered): EventName | undefined {
  const { event, password } = testimonyOf(ctx)
  if (event) return event
  if (ctx.status === 429) return 'throttled'
  if (!ctx.auth) return undefined
  if (ctx.status < 400 && ctx.auth.peek(Admin)) return 'admin used'
  if (password?.isRight === false) return 'credentials refused'
  if (ctx.status === 401 && ctx.auth.credentialsSent) return 'credentials refused'
  return ctx.status < 400 ? successOf(ctx, ctx.auth) : undefined
}

function successOf(ctx: Answered, auth: Auth): EventName | undefined {
  const route = ctx._matchedRoute
  if (auth.isLoggedOut(User)) return testimonyOf(ctx).cameAs ? 'signed out' : undefined
  if (route === '/users') return 'signed up'
  const by = auth.peek(User) && auth.by(User)
  if (by?.signsIn) return 'signed in'
  if (!(by instanceof BasicAuthenticator)) return undefined
  return route === '/login' && queried(ctx, 'as') !== 'user' ? 'token issued' : 'password used'
}

/** Whose account that event concerns, as far as anybody can tell. */
export function accountOf(ctx: Answered, event: EventName): Account | undefined {
  const { cameAs, password } = testimonyOf(ctx)
  const isGuess = event === 'credentials refused' || event === 'throttled'
  if (isGuess && password && !password.isRight) return password
  if (event === 'credentials refused') return undefined
  const admin = event === 'admin used' ? ctx.auth?.peek(Admin) : undefined
  if (admin) return { kind: 'admin', id: admin.id }
  const id = (event === 'signed up' ? newcomer(ctx) : undefined) ?? ctx.auth?.peek(User)?.id ?? cameAs
  return id === undefined ? undefined : { kind: 'user', id }
}

// The API signs nobody in who signs up: only the record in the answer says who it is, whoever is signed in beside it.
function newcomer({ body }: Answered): string | undefined {
  return typeof body === 'object' && body !== null && 'id' in body ? String(body.id) : undefined
}
