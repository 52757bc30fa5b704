/**
 * The events of accounts, with their wording for the activity page. Any client can cause an event with the outcome `request` for any
 * account.
 */
export const events = {
  'signed up': { outcome: 'success', wording: 'Account created' },
  'signed in': { outcome: 'success', wording: 'Signed in' },
  'signed out': { outcome: 'success', wording: 'Signed out' },
  'token issued': { outcome: 'success', wording: 'API token created with the password' },
  'password used': { outcome: 'success', wording: 'Password used with the API' },
  'credentials refused': { outcome: 'refusal', wording: 'Wrong password' },
  throttled: { outcome: 'refusal', wording: 'Blocked after too many attempts' },
  confirmed: { outcome: 'success', wording: 'Confirmed with the password, a code or a passkey' },
  'code required': { outcome: 'success', wording: 'Password accepted, waiting for the code' },
  'code refused': { outcome: 'refusal', wording: 'Wrong code' },
  'authenticator app turned on': { outcome: 'success', wording: 'Authenticator app turned on' },
  'authenticator app turned off': { outcome: 'success', wording: 'Authenticator app turned off' },
  'recovery code used': { outcome: 'success', wording: 'Recovery code used' },
  'recovery codes created': { outcome: 'success', wording: 'Recovery codes created' },
  'passkey added': { outcome: 'success', wording: 'Passkey added' },
  'passkey renamed': { outcome: 'success', wording: 'Passkey renamed' },
  'passkey removed': { outcome: 'success', wording: 'Passkey removed' },
  'passkey refused': { outcome: 'refusal', wording: 'Passkey refused' },
  'passkey counter went back': {
    outcome: 'refusal',
    wording: 'Passkey refused, because it may have been copied',
  },
  'identity added': { outcome: 'success', wording: 'Account of a provider connected' },
  'identity removed': { outcome: 'success', wording: 'Account of a provider disconnected' },
  'provider refused': { outcome: 'refusal', wording: 'Sign-in with a provider refused' },
  'second factors removed': {
    outcome: 'success',
    wording: 'Authenticator app and passkeys removed by the operator of the site',
  },
  'password changed': { outcome: 'success', wording: 'Password changed' },
  'reset link requested': { outcome: 'request', wording: 'Password reset link requested' },
  'password reset': { outcome: 'success', wording: 'Password reset by a link' },
  'verification link requested': { outcome: 'success', wording: 'E-mail confirmation link requested' },
  'address verified': { outcome: 'success', wording: 'E-mail address confirmed' },
  'data downloaded': { outcome: 'success', wording: 'Data downloaded' },
  'name changed': { outcome: 'success', wording: 'Name changed' },
  'address change requested': { outcome: 'success', wording: 'Change of e-mail address requested' },
  'address change cancelled': { outcome: 'success', wording: 'Change of e-mail address cancelled' },
  'address changed': { outcome: 'success', wording: 'E-mail address changed' },
  'token created': { outcome: 'success', wording: 'Token created' },
  'token revoked': { outcome: 'success', wording: 'Token revoked' },
  'session ended': { outcome: 'success', wording: 'Session ended' },
  'other sessions ended': { outcome: 'success', wording: 'Signed out everywhere else' },
  'account closed': { outcome: 'success', wording: 'Account closed' },
  'admin used': { outcome: 'success', wording: 'API used as an admin' },
} as const satisfies Record<string, { outcome: 'success' | 'refusal' | 'request'; wording: string }>

export type EventName = keyof typeof events

/** Failed attempts, and events that any client can cause for any account. */
export const unauthenticated = Object.entries(events)
  .filter(([, { outcome }]) => outcome !== 'success')
  .map(([event]) => event)

const signIns: readonly EventName[] = [
  ...(['signed up', 'signed in', 'signed out', 'token issued', 'password used', 'confirmed'] as const),
  ...(['code required', 'recovery code used', 'admin used'] as const),
]
const names = Object.keys(events) as EventName[]
const failed = names.filter((event) => events[event].outcome === 'refusal')

/** The events of each filter of the activity page. */
export const eventKinds: Readonly<Record<string, readonly string[]>> = {
  'sign-ins': signIns,
  changes: names.filter((event) => !signIns.includes(event) && !failed.includes(event)),
  failed,
}

/** An event of a request whose response has not been sent. It never contains a secret. */
export interface NotedEvent {
  readonly event: EventName
  readonly account?: Account | undefined
  /** For the activity page, such as the name of a token. */
  readonly detail?: string | undefined
  /** For the line in the log. */
  readonly logFields?: Readonly<Record<string, string | undefined>> | undefined
}

/** An account by its id, or by the user name that a client sent. There may be no account with that user name. */
export type Account = { readonly kind: 'user' | 'admin' } & (
  | { readonly id: string }
  | { readonly username: string }
)
