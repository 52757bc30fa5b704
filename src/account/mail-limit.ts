import type { Outbox } from '../mail/outbox.ts'
import { TryLater } from '../refusal.ts'
import type { SiteContext } from '../site/site-context.ts'
import { emailKey } from '../users/user.ts'
import { count } from './limits.ts'
import type { Services } from './services.ts'

/** The kinds of mail that a request asks for. Each has its own limit, so that strangers at `/forgot` block no other mail. */
type RequestedMail = 'reset' | 'verify' | 'change-email'

/** Counts a mail against the limits of the network and of the address. Throws `TryLater` (429) if one is used up. */
export async function countMail(
  services: Services,
  ctx: SiteContext,
  kind: RequestedMail,
  address: string,
): Promise<void> {
  await count(services, ctx, 'mail')
  await countMailTo(services, ctx, kind, address)
}

/** Counts a mail against the limit of its address only. The address need not have an account. */
export function countMailTo(
  services: Services,
  ctx: SiteContext,
  kind: RequestedMail,
  address: string,
): Promise<void> {
  return count(services, ctx, 'mailbox', `${kind} ${emailKey(address)}`)
}

/**
 * The outbox, if it takes a verification mail to this address: it is not full, and no limit is used up. The user can request the mail later.
 */
export async function outboxForVerification(
  services: Services,
  ctx: SiteContext,
  email: string,
): Promise<Outbox | undefined> {
  const { outbox } = services
  if (!outbox || (await outbox.isFull())) return undefined
  return (await mayMail(() => countMail(services, ctx, 'verify', email))) ? outbox : undefined
}

/** Runs `attempt`, which counts a mail, and returns whether the mail may be sent. For a request that succeeds even if a limit is used up. */
export async function mayMail(attempt: () => Promise<void>): Promise<boolean> {
  try {
    await attempt()
    return true
  } catch (error) {
    if (error instanceof TryLater) return false
    throw error
  }
}
