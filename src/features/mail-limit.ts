import { TryLater } from '../refusal.ts'
import type { SiteContext } from '../site/site-context.ts'
import { emailKey } from '../users/email.ts'
import type { User } from '../users/user.ts'
import { limited } from './sign-in/guessing.ts'

/**
 * Counts a mail against the limit of the network that requests it.
 * @throws {TryLater} 429, if the allowance of the network is used up
 */
export async function countMailFromNetwork(ctx: SiteContext): Promise<void> {
  await limited(ctx, { action: 'mail', account: '' }, counted)
}

/**
 * Counts a mail against the limit of its address. The address need not have an account.
 * @throws {TryLater} 429, if the allowance of the address is used up
 */
export async function countMailTo(ctx: SiteContext, address: string): Promise<void> {
  await limited(ctx, { action: 'mailbox', account: emailKey(address) }, counted)
}

/** Counts a mail against the limits of the network and of the address. */
export async function countMail(ctx: SiteContext, address: string): Promise<void> {
  await countMailFromNetwork(ctx)
  await countMailTo(ctx, address)
}

/**
 * Counts a mail that confirms a new address, against the limits of the network, the account and the address.
 * @throws {TryLater} 429, if an allowance is used up
 */
export async function countMailToNewAddress(
  ctx: SiteContext,
  { id }: Pick<User, 'id'>,
  address: string,
): Promise<void> {
  await countMailFromNetwork(ctx)
  await limited(ctx, { action: 'address-change', account: id }, counted)
  await limited(ctx, { action: 'new-address', account: emailKey(address) }, counted)
  await countMailTo(ctx, address)
}

/** Returns whether a mail may be sent after `count`. Use it for a response that must not reveal a used-up limit. */
export async function mayMail(count: () => Promise<void>): Promise<boolean> {
  try {
    await count()
    return true
  } catch (error) {
    if (error instanceof TryLater) return false
    throw error
  }
}

async function counted(): Promise<true> {
  return true
}
