import type { AuthContext } from '#auth'
import { emailKey } from './email.ts'
import type { HashingOptions } from './hashing-slots.ts'

/** The account that a password is said to be of, whether it exists or not. */
export interface Claim {
  readonly kind: 'user' | 'admin'
  readonly username: string
}

/** Limits and records the evaluation of a password. */
export type CredentialCheck = <Found>(
  ctx: AuthContext,
  claim: Claim,
  evaluate: (options: HashingOptions) => Promise<Found | undefined>,
) => Promise<Found | undefined>

/** The context of an application that sets its check once: `app.context.credentialCheck = …`. */
export interface CheckedContext extends AuthContext {
  readonly credentialCheck: CredentialCheck
}

/** The check of a request's application. Throws if there is none, because guesses would be free. */
export function credentialCheckOf(ctx: AuthContext): CredentialCheck {
  const { credentialCheck } = ctx as Partial<CheckedContext>
  if (!credentialCheck) throw new Error('Set the check of passwords: `app.context.credentialCheck = …`.')
  return credentialCheck
}

/** What guesses at a password are counted by: the same in every spelling of the address. */
export function claimed({ kind, username }: Claim): string {
  return `${kind} ${emailKey(username)}`
}
