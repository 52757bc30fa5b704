import { type AuthContext, credentialsSent } from '#auth'
import { Admin } from '../users/admin.ts'
import { User } from '../users/user.ts'

/** An event of a request. It never contains a secret. */
export interface NotedEvent {
  /** The name in the log and the database. The activity page shows it, unless `accountWords` has other words. */
  readonly event: string
  readonly account?: Account | undefined
  /** For the activity page, such as the name of a token. */
  readonly detail?: string | undefined
  /** For the line in the log. */
  readonly logFields?: Readonly<Record<string, string | undefined>> | undefined
}

/** An event with its origin. */
export interface AuditEvent extends NotedEvent {
  readonly address: string
  readonly userAgent: string
  /** The identifier of the request in the log. */
  readonly request: string
}

/** An account by its id, or by the user name that a client sent. There may be no account with that user name. */
export type Account = { readonly kind: 'user' | 'admin' } & (
  | { readonly id: string }
  | { readonly username: string }
)

/** The events of failed attempts. */
export const refusals = [
  ...['credentials refused', 'throttled', 'code refused', 'passkey refused', 'passkey counter went back'],
  'provider refused',
]

/** Failed attempts, and events that any client can cause for any account. */
export const unauthenticated = [...refusals, 'reset link requested']

/** The outcome of an event in the log. Any client can cause an event with the outcome `request` for any account. */
export function outcomeOf(event: string): 'success' | 'refusal' | 'request' {
  if (refusals.includes(event)) return 'refusal'
  return unauthenticated.includes(event) ? 'request' : 'success'
}

/**
 * Records an event in the audit trail, before the response is sent. A sign-in and a sign-out are recorded only if the request
 * succeeds. Other events are recorded even if the request fails later.
 *
 * @param account the account of the event; for a wrong password, the claimed account
 */
export function audit(
  ctx: AuthContext,
  event: string,
  account?: User | Admin | Account,
  more?: Pick<NotedEvent, 'detail' | 'logFields'>,
): void {
  ctx.events ??= []
  ctx.events.push({ event, account: accountOf(account), ...more })
}

/** Records rejected credentials, unless the request already has an event. */
export function auditRefusedCredentials(ctx: AuthContext): void {
  if (credentialsSent(ctx) && !ctx.events) audit(ctx, 'credentials refused')
}

function accountOf(account: User | Admin | Account | undefined): Account | undefined {
  if (account instanceof User) return { kind: 'user', id: account.id }
  if (account instanceof Admin) return { kind: 'admin', id: account.id }
  return account
}
