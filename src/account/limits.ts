import { TryLater } from '../refusal.ts'
import { audit } from '../site/audit.ts'
import type { Account } from '../site/audit-event.ts'
import type { SiteContext } from '../site/site-context.ts'
import type { Attempt } from '../throttle/throttle.ts'
import { accountKey, type ClaimedAccount, type CredentialCheck } from '../users/check-credentials.ts'
import type { HashingOptions } from '../users/hashing-slots.ts'
import { User } from '../users/user.ts'
import { attemptedForm } from './attempted-form.ts'

/** Runs for every password check of the site. Rate-limits guesses, and records refusals in the audit trail. */
export const credentialCheck: CredentialCheck = async (ctx, claim, evaluate) => {
  // `createApp` sets this check, so the context is a `SiteContext`.
  const site = ctx as SiteContext
  const found = await auditThrottled(site, claim, () => evaluateGuess(site, claim, evaluate))
  if (found === undefined) audit(site, 'credentials refused', claim, { detail: attemptedForm(site) })
  return found
}

/** Rate-limits an action. Its rule determines which outcomes count. */
export async function limited<Result>(
  ctx: SiteContext,
  attempt: Pick<Attempt, 'action' | 'account'>,
  evaluate: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  const { throttle } = ctx.guessing ?? {}
  if (!throttle) return evaluate()
  return auditThrottled(ctx, ctx.auth.peek(User), () =>
    throttle.attempt({ ...attempt, address: ctx.ip }, evaluate),
  )
}

/** Counts an action. Throws 429 if its allowance is used up. */
export async function count(ctx: SiteContext, action: Attempt['action'], account = ''): Promise<void> {
  await limited(ctx, { action, account }, async () => true)
}

/** Rate-limits guesses of a user's code. A wrong code counts as a wrong password, and also has a limit of its own. */
export function limitedCode<Result>(
  ctx: SiteContext,
  user: User,
  evaluate: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  const claim = { kind: 'user', username: user.email } as const
  return auditThrottled(ctx, user, () =>
    evaluateGuess(ctx, claim, ({ device }) => {
      const attempt: Attempt = { action: 'code', account: user.id, device, address: ctx.ip }
      return ctx.guessing ? ctx.guessing.throttle.attempt(attempt, evaluate) : evaluate()
    }),
  )
}

/** Returns whether the client has closed the connection. */
export function isDisconnected({ req }: SiteContext): boolean {
  return req.socket.destroyed
}

async function evaluateGuess<Found>(
  ctx: SiteContext,
  claim: ClaimedAccount,
  evaluate: (options: HashingOptions & { device?: string | undefined }) => Promise<Found | undefined>,
): Promise<Found | undefined> {
  const connection = { isDisconnected: () => isDisconnected(ctx) }
  if (!ctx.guessing) return evaluate(connection)
  const { throttle, devices } = ctx.guessing
  const device = claim.kind === 'user' ? await devices.deviceOf(ctx, claim.username) : undefined
  const guess: Attempt = { action: 'password', account: accountKey(claim), device, address: ctx.ip }
  return throttle.attempt(guess, () =>
    evaluate({ isKnownDevice: device !== undefined, device, ...connection }),
  )
}

async function auditThrottled<Result>(
  ctx: SiteContext,
  account: User | Account | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TryLater && error.status === 429)
      audit(ctx, 'throttled', account, {
        detail: attemptedForm(ctx),
        logFields: { allowance: error.allowance, hint: ctx.guessing?.hint },
      })
    throw error
  }
}
