/** What can happen to an account, and how it ended for whoever tried. */
export const outcomes = {
  'signed up': 'success',
  'signed in': 'success',
  'signed out': 'success',
  'token issued': 'success',
  'password used': 'success',
  'credentials refused': 'refusal',
  throttled: 'refusal',
  'password changed': 'success',
  'name changed': 'success',
  'token created': 'success',
  'token revoked': 'success',
  'session ended': 'success',
  'other sessions ended': 'success',
  'account closed': 'success',
  'admin used': 'success',
} as const satisfies Record<string, 'success' | 'refusal'>

export type EventName = keyof typeof outcomes

/** The events that strangers can cause. */
export const refusals = Object.entries(outcomes)
  .filter(([, outcome]) => outcome === 'refusal')
  .map(([event]) => event)
