import type { AuthContext } from '#auth'
import { TryLater } from '../refusal.ts'
import { type Account, audit } from '../site/audit.ts'
import type { Throttle } from '../throttle/throttle.ts'
import { emailKey, type User } from '../users/user.ts'
import { attemptedForm } from './attempted-form.ts'
import type { Devices } from './devices/devices.ts'

/** The account that the credentials name, whether it exists or not. */
export interface ClaimedAccount {
  readonly kind: 'user' | 'admin'
  readonly username: string
}

/** The throttle key of an account, independent of the case of the address. */
export function accountKey({ kind, username }: ClaimedAccount): string {
  return `${kind} ${emailKey(username)}`
}

/** The limits on guessing passwords. */
export interface Guessing {
  readonly throttle: Throttle
  readonly devices: Devices
  /** A hint that the log adds to a throttled attempt. */
  readonly hint?: string | undefined
}

/**
 * Evaluates a password or a code within the limits of wrong passwords of the claimed account. Throws `TryLater` (429) if one is used up.
 *
 * @param evaluate gets the device, if it is known to the account
 * @param account the account in the audit trail, by default the claimed one
 */
export async function guess<Found>(
  guessing: Guessing | undefined,
  ctx: AuthContext,
  claim: ClaimedAccount,
  evaluate: (device: string | undefined) => Promise<Found | undefined>,
  account: User | Account = claim,
): Promise<Found | undefined> {
  if (!guessing) return evaluate(undefined)
  const { throttle, devices } = guessing
  const device = claim.kind === 'user' ? await devices.deviceOf(ctx, claim.username) : undefined
  const counted = { account: accountKey(claim), device, address: ctx.ip }
  return auditThrottled(guessing, ctx, account, () =>
    throttle.attempt({ action: 'password', ...counted }, () => evaluate(device)),
  )
}

/** Records an attempt over a limit in the audit trail. */
export async function auditThrottled<Result>(
  { hint }: Guessing,
  ctx: AuthContext,
  account: User | Account | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TryLater && error.status === 429)
      audit(ctx, 'throttled', account, {
        detail: attemptedForm(ctx),
        logFields: { allowance: error.allowance, hint },
      })
    throw error
  }
}
