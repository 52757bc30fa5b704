import { TryLater } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import type { Account } from '../../site/audit-event.ts'
import type { SiteContext } from '../../site/site-context.ts'
import type { Attempt } from '../../throttle/throttle.ts'
import { accountKey, type ClaimedAccount, type CredentialCheck } from '../../users/check-credentials.ts'
import type { HashingOptions } from '../../users/hashing-slots.ts'
import { User } from '../../users/user.ts'

/** The check around every password, at every door: guesses count against the allowances, and refusals are recorded. */
export const credentialCheck: CredentialCheck = async (ctx, claim, evaluate) => {
  // The layer's context is the site's here: `createApp` sets this check.
  const site = ctx as SiteContext
  const found = await auditThrottled(site, claim, () => evaluateGuess(site, claim, evaluate))
  if (found === undefined) audit(site, 'credentials refused', claim)
  return found
}

/** Counts an action that is limited whether it succeeds or not. */
export async function limited<Result>(
  ctx: SiteContext,
  attempt: Pick<Attempt, 'action' | 'account'>,
  evaluate: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  const { throttle } = ctx.guessing ?? {}
  if (!throttle) return evaluate()
  return auditThrottled(ctx, ctx.auth.peek(User), () =>
    throttle.attempt({ ...attempt, address: ctx.ip, hasLeft: () => hasLeft(ctx) }, evaluate),
  )
}

/** Counts a look-up by a stranger that costs no work. */
export function countLookUp(ctx: SiteContext): Promise<void> {
  return auditThrottled(ctx, undefined, async () => ctx.guessing?.throttle.countLookUp(ctx.ip))
}

/** Whether the client has closed the connection, so that its password need not be hashed. */
export function hasLeft({ req }: SiteContext): boolean {
  return req.socket.destroyed
}

async function evaluateGuess<Found>(
  ctx: SiteContext,
  claim: ClaimedAccount,
  evaluate: (options: HashingOptions) => Promise<Found | undefined>,
): Promise<Found | undefined> {
  const client = { hasLeft: () => hasLeft(ctx) }
  if (!ctx.guessing) return evaluate(client)
  const { throttle, devices } = ctx.guessing
  const device = claim.kind === 'user' ? await devices.deviceOf(ctx, claim.username) : undefined
  const guess: Attempt = {
    action: 'password',
    account: accountKey(claim),
    device,
    address: ctx.ip,
    ...client,
  }
  return throttle.attempt(guess, () => evaluate({ isKnownDevice: device !== undefined, ...client }))
}

async function auditThrottled<Result>(
  ctx: SiteContext,
  who: User | Account | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TryLater && error.status === 429) audit(ctx, 'throttled', who)
    throw error
  }
}
