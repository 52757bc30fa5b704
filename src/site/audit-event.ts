/** The events of accounts, and their outcome. Anybody can cause a `request` for any account. */
export const outcomes = {
  'signed up': 'success',
  'signed in': 'success',
  'signed out': 'success',
  'token issued': 'success',
  'password used': 'success',
  'credentials refused': 'refusal',
  throttled: 'refusal',
  confirmed: 'success',
  'code required': 'success',
  'code refused': 'refusal',
  'authenticator app turned on': 'success',
  'authenticator app turned off': 'success',
  'recovery code used': 'success',
  'recovery codes created': 'success',
  'passkey added': 'success',
  'passkey renamed': 'success',
  'passkey removed': 'success',
  'passkey refused': 'refusal',
  'passkey counter went back': 'refusal',
  'second factors removed': 'success',
  'password changed': 'success',
  'reset link requested': 'request',
  'password reset': 'success',
  'verification link requested': 'success',
  'address verified': 'success',
  'name changed': 'success',
  'address change requested': 'success',
  'address change cancelled': 'success',
  'address changed': 'success',
  'token created': 'success',
  'token revoked': 'success',
  'session ended': 'success',
  'other sessions ended': 'success',
  'account closed': 'success',
  'admin used': 'success',
} as const satisfies Record<string, 'success' | 'refusal' | 'request'>

export type EventName = keyof typeof outcomes

/** The events that clients can cause without signing in. */
export const unauthenticated = Object.entries(outcomes)
  .filter(([, outcome]) => outcome !== 'success')
  .map(([event]) => event)

/** An event of a request whose response has not been sent. It never contains a secret. */
export interface NotedEvent {
  readonly event: EventName
  readonly account?: Account | undefined
  /** For the activity page, such as the name of a token. */
  readonly detail?: string | undefined
  /** For the line in the log. */
  readonly logFields?: Readonly<Record<string, string | undefined>> | undefined
}

/** An account by its id, or by the user name that a client sent, which may not exist. */
export type Account = { readonly kind: 'user' | 'admin' } & (
  | { readonly id: string }
  | { readonly username: string }
)
