/** The data of a notice about a security event. */
export interface NoticeData {
  readonly event: NoticeEvent
  readonly name: string
  /** The time, as text of `Date.toISOString`. */
  readonly at: string
  /** The device in words, such as `Firefox on Linux`. */
  readonly device: string
  /** The IP address of the request. A command of the operator has none. */
  readonly network?: string
  /** The number of unused recovery codes. */
  readonly codesLeft?: number | undefined
}

export type NoticeEvent = keyof typeof notices

interface Notice {
  readonly subject: string
  /** The description of the event. */
  readonly text: string
  /** Whether the notice advises to contact the operator. Otherwise, it advises to choose a new password. */
  readonly needsOperator?: true
  /** Whether the owner must act even if the event was the owner's own. */
  readonly mustAct?: true
}

/** The wording of the notices. They go to verified addresses only. */
export const notices = {
  'new device': {
    subject: 'New sign-in to your account',
    text: 'There was a sign-in to your account from a new device.',
  },
  'new program': {
    subject: 'New use of your password by a program',
    text: 'A program used the password of your account from a new network. It may have created an API token.',
  },
  'code refused': {
    subject: 'Wrong code for your account',
    text: 'A wrong code was entered on an unknown device, after the right password or in a session of your account.',
  },
  'authenticator app turned on': {
    subject: 'An authenticator app was added',
    text: 'An authenticator app was added to your account. A sign-in with the password now also needs a code of the app. All other sessions have ended.',
    needsOperator: true,
  },
  'authenticator app turned off': {
    subject: 'Your authenticator app was removed',
    text: 'The authenticator app and the recovery codes of your account were removed. The password is enough to sign in now.',
  },
  'recovery code used': {
    subject: 'A recovery code was used',
    text: 'A recovery code of your account was used in place of the authenticator app. That code no longer works.',
  },
  'recovery codes created': {
    subject: 'Your recovery codes were replaced',
    text: 'New recovery codes were created for your account. The old ones no longer work.',
  },
  'passkey added': {
    subject: 'A passkey was added to your account',
    text: 'A passkey was added to your account. It can sign in without the password. A new password does not remove it. You can remove it on the page “Security” of your account.',
  },
  'passkey removed': {
    subject: 'A passkey was removed from your account',
    text: 'A passkey of your account was removed. You can no longer sign in with it.',
  },
  'passkey counter went back': {
    subject: 'A passkey of your account was rejected',
    text: 'A passkey of your account was rejected, because it may be a copy. Remove it on the page “Security” of your account, and add a new one.',
    needsOperator: true,
    mustAct: true,
  },
  'identity added': {
    subject: 'An account of a provider was connected',
    text: 'An account of an identity provider was connected to your account. It can sign in without the password, and a new password does not disconnect it. You can disconnect it on the page “Security” of your account.',
  },
  'identity removed': {
    subject: 'An account of a provider was disconnected',
    text: 'An account of an identity provider was disconnected from your account. It can no longer sign in.',
  },
  'second factors removed': {
    subject: 'Your authenticator app and passkeys were removed',
    text: 'The operator of the site removed the authenticator app, the recovery codes and the passkeys of your account. A sign-in needs only the password.',
    needsOperator: true,
  },
  'token created': {
    subject: 'An API token was created',
    text: 'An API token was created in a session of your account. It works without your password until it expires. You can revoke it on the page “API tokens” of your account.',
  },
  'password changed': {
    subject: 'Your password was changed',
    text: 'The password of your account was changed. All API tokens have ended, and all sessions except the one that changed the password.',
  },
  'password reset': {
    subject: 'Your password was reset',
    text: 'The password of your account was reset with a link. All sessions and all API tokens have ended. Passkeys and the authenticator app, if you have any, still work.',
  },
  'address change requested': {
    subject: 'Request to change your e-mail address',
    text: 'A change of your e-mail address was requested from your account. We have sent a link to the new address. Nothing changes until the link is used.',
  },
  'address changed': {
    subject: 'Your e-mail address was changed',
    text: 'The e-mail address of your account was changed. Only the new address can sign in now.',
    needsOperator: true,
  },
  'account closed': {
    subject: 'Your account was closed',
    text: 'Your account was closed. All sessions and API tokens have ended, and nobody can sign in to it.',
    needsOperator: true,
  },
} satisfies Record<string, Notice>
