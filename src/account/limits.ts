import type { AuthContext } from '#auth'
import { TryLater } from '../refusal.ts'
import { type Account, audit } from '../site/audit.ts'
import type { Attempt } from '../throttle/throttle.ts'
import { emailKey, User } from '../users/user.ts'
import { attemptedForm } from './attempted-form.ts'
import type { Services } from './services.ts'

/** The account that the credentials name, whether it exists or not. */
type ClaimedAccount = Extract<Account, { readonly username: string }>

/** The throttle key of an account, independent of the case of the address. */
export function accountKey({ kind, username }: ClaimedAccount): string {
  return `${kind} ${emailKey(username)}`
}

/**
 * Rate-limits an action. Its rule determines which outcomes count. Records an attempt over a limit in the audit trail.
 *
 * @param account the account in the audit trail, by default the signed-in user
 * @throws {TryLater} 429 if an allowance is used up
 */
export async function limited<Result>(
  { guessing }: Pick<Services, 'guessing'>,
  ctx: AuthContext,
  attempt: Omit<Attempt, 'address'>,
  evaluate: () => Promise<Result | undefined>,
  account: User | Account | undefined = ctx.auth.peek(User),
): Promise<Result | undefined> {
  if (!guessing) return evaluate()
  try {
    return await guessing.throttle.attempt({ ...attempt, address: ctx.ip }, evaluate)
  } catch (error) {
    if (error instanceof TryLater && error.status === 429)
      audit(ctx, 'throttled', account, {
        detail: attemptedForm(ctx),
        logFields: { allowance: error.allowance, hint: guessing.hint },
      })
    throw error
  }
}

/** Counts an action. Throws 429 if its allowance is used up. */
export async function count(
  services: Services,
  ctx: AuthContext,
  action: Attempt['action'],
  account = '',
): Promise<void> {
  await limited(services, ctx, { action, account }, async () => true)
}

/**
 * Evaluates a password within the limits of wrong passwords of the claimed account.
 *
 * @param evaluate gets the device, if it is known to the account
 * @param account the account in the audit trail, by default the claimed one
 * @throws {TryLater} 429 after too many wrong passwords
 */
export async function limitedPassword<Result>(
  services: Pick<Services, 'guessing'>,
  ctx: AuthContext,
  claim: ClaimedAccount,
  evaluate: (device: string | undefined) => Promise<Result | undefined>,
  account: User | Account = claim,
): Promise<Result | undefined> {
  const isUser = claim.kind === 'user'
  const device = isUser ? await services.guessing?.devices.deviceOf(ctx, claim.username) : undefined
  const attempt = { action: 'password', account: accountKey(claim), device } as const
  return limited(services, ctx, attempt, () => evaluate(device), account)
}

/** Rate-limits guesses of a user's code. A wrong code counts as a wrong password, and also has a limit of its own. */
export function limitedCode<Result>(
  services: Services,
  ctx: AuthContext,
  user: User,
  evaluate: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  const { throttle } = services.guessing ?? {}
  const claim = { kind: 'user', username: user.email } as const
  const evaluateCode = async (device: string | undefined) =>
    throttle
      ? throttle.attempt({ action: 'code', account: user.id, device, address: ctx.ip }, evaluate)
      : evaluate()
  return limitedPassword(services, ctx, claim, evaluateCode, user)
}
