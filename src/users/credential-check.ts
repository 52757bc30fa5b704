import { Slot } from '#auth'
import { emailKey } from './email.ts'

/** Whose password is checked: an account that exists or not, alike. */
export interface Claimant {
  readonly kind: 'user' | 'admin'
  readonly username: string
}

/** What stands around every check of a password, whichever way the password came. */
export type CredentialCheck = <Found>(
  who: Claimant,
  check: () => Promise<Found | undefined>,
) => Promise<Found | undefined>

const mounted = new Slot<CredentialCheck>('credential check')

/** Puts a check around all checks of a request. */
export function mountCredentialCheck(ctx: object, check: CredentialCheck): void {
  mounted.set(ctx, check)
}

/** The check of this request. There always is one: a way to a password that it does not cover would be a hole. */
export function credentialCheck(ctx: object): CredentialCheck {
  const check = mounted.get(ctx)
  if (!check)
    throw new Error('Mount a credential check before the first authenticator: `app.use(guessing(…))`.')
  return check
}

/** What guesses at a password are counted by: the same, however the name is spelt. */
export function claimed({ kind, username }: Claimant): string {
  return `${kind} ${emailKey(username)}`
}
