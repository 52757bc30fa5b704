import { type AuthContext, credentialsSent } from '#auth'
import { Admin } from '../users/admin.ts'
import { User } from '../users/user.ts'
import type { Account, EventName, NotedEvent } from './audit-event.ts'

/**
 * Records an event in the audit trail, before the response is sent. A sign-in and a sign-out are recorded only if the request
 * succeeds. Other events are recorded even if the request fails later.
 *
 * @param account the account of the event; for a wrong password, the claimed account
 */
export function audit(
  ctx: AuthContext,
  event: EventName,
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
