import type { AuthContext } from '#auth'
import type { Attempt } from '../throttle/throttle.ts'
import { User } from '../users/user.ts'
import { auditThrottled, guess } from './guessing.ts'
import type { Services } from './services.ts'

/** Rate-limits an action. Its rule determines which outcomes count. */
export async function limited<Result>(
  { guessing }: Services,
  ctx: AuthContext,
  attempt: Pick<Attempt, 'action' | 'account'>,
  evaluate: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  if (!guessing) return evaluate()
  const counted = { ...attempt, address: ctx.ip }
  return auditThrottled(guessing, ctx, ctx.auth.peek(User), () =>
    guessing.throttle.attempt(counted, evaluate),
  )
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

/** Rate-limits guesses of a user's code. A wrong code counts as a wrong password, and also has a limit of its own. */
export function limitedCode<Result>(
  { guessing }: Services,
  ctx: AuthContext,
  user: User,
  evaluate: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  const claim = { kind: 'user', username: user.email } as const
  return guess(
    guessing,
    ctx,
    claim,
    (device) => {
      const attempt: Attempt = { action: 'code', account: user.id, device, address: ctx.ip }
      return guessing ? guessing.throttle.attempt(attempt, evaluate) : evaluate()
    },
    user,
  )
}
