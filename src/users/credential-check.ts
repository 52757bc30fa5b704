import type { AuthContext } from '#auth'
import { emailKey } from './email.ts'

/** Whose password is checked: an account that exists or not, alike. */
export interface Claimant {
  readonly kind: 'user' | 'admin'
  readonly username: string
}

/** What stands around every check of a password, whichever way the password came. */
export type CredentialCheck = <Found>(
  ctx: AuthContext,
  who: Claimant,
  evaluate: () => Promise<Found | undefined>,
) => Promise<Found | undefined>

const mounted = new WeakMap<object, CredentialCheck>()

/** Puts a check around all checks of a request. */
export function mountCredentialCheck(ctx: object, check: CredentialCheck): void {
  mounted.set(ctx, check)
}

/** Evaluates a password inside the check of its request. There always is one: a way that it does not cover would be a hole. */
export const credentialCheck: CredentialCheck = (ctx, who, evaluate) => {
  const check = mounted.get(ctx)
  if (!check)
    throw new Error('Mount a credential check before the first authenticator: `app.use(guessing(…))`.')
  return check(ctx, who, evaluate)
}

/** What guesses at a password are counted by: the same, however the name is spelt. */
export function claimed({ kind, username }: Claimant): string {
  return `${kind} ${emailKey(username)}`
}
