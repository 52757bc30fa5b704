import type { EventName } from './event-name.ts'

/** An event of an account and its origin. It never holds a secret. */
export interface AuditEvent {
  readonly event: EventName
  /** The account by its id, or by the user name that a client sent, which may not exist. */
  readonly account?: Account | undefined
  readonly address: string
  readonly userAgent: string
  /** The identifier of the request in the log. */
  readonly request: string
}

/** An event of a request whose response has not been sent. */
export type NotedEvent = Pick<AuditEvent, 'event' | 'account'>

/** An account of one of the two kinds. */
export type Account = { readonly kind: 'user' | 'admin' } & (
  | { readonly id: string }
  | { readonly username: string }
)

/** Stores events. */
export interface EventRecorder {
  record(event: AuditEvent): Promise<void>
}
