import { TryLater } from '../refusal.ts'
import type { SiteContext } from '../site/site-context.ts'
import { emailKey } from '../users/email.ts'
import type { User } from '../users/user.ts'
import { count } from './limits.ts'
import type { Services } from './services.ts'

// The `count…` functions throw `TryLater` (429) if a limit is used up.

/** The kinds of mail that a request asks for. Each has its own limit, so that strangers at `/forgot` block no other mail. */
type RequestedMail = 'reset' | 'verify' | 'change-email'

/** Counts a mail against the limit of the network that requests it. */
export function countMailFromNetwork(services: Services, ctx: SiteContext): Promise<void> {
  return count(services, ctx, 'mail')
}

/** Counts a mail against the limit of its address. The address need not have an account. */
export function countMailTo(
  services: Services,
  ctx: SiteContext,
  kind: RequestedMail,
  address: string,
): Promise<void> {
  return count(services, ctx, 'mailbox', `${kind} ${emailKey(address)}`)
}

/** Counts a mail that verifies an address, against the limits of the network and of the address. */
export async function countVerification(
  services: Services,
  ctx: SiteContext,
  address: string,
): Promise<void> {
  await countMailFromNetwork(services, ctx)
  await countMailTo(services, ctx, 'verify', address)
}

/** Counts a mail for a change of address, against the limits of the network, the account and the new address. */
export async function countAddressChange(
  services: Services,
  ctx: SiteContext,
  { id }: User,
  address: string,
): Promise<void> {
  await countMailFromNetwork(services, ctx)
  await count(services, ctx, 'address-change', id)
  await countMailTo(services, ctx, 'change-email', address)
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
