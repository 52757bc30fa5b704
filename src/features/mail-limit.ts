import { TryLater } from '../refusal.ts'
import type { SiteContext } from '../site/site-context.ts'
import { emailKey } from '../users/email.ts'
import type { User } from '../users/user.ts'
import { limited } from './sign-in/guessing.ts'

/**
 * Counts a mail that is requested from the network of a request.
 * @throws {TryLater} 429, if the allowance of the network is used up
 */
export async function countMailFromNetwork(ctx: SiteContext): Promise<void> {
  await limited(ctx, { action: 'mail', account: '' }, counted)
}

/**
 * Counts a mail to an address, with or without an account.
 * @throws {TryLater} 429, if the allowance of the address is used up
 */
export async function countMailTo(ctx: SiteContext, address: string): Promise<void> {
  await limited(ctx, { action: 'mailbox', account: emailKey(address) }, counted)
}

/** Counts a mail for the network of a request and for the address. */
export async function countMail(ctx: SiteContext, address: string): Promise<void> {
  await countMailFromNetwork(ctx)
  await countMailTo(ctx, address)
}

/**
 * Counts a mail to an address that is requested as the new address of an account.
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

/** Counts a mail for a response that must not reveal a used-up allowance. Returns whether the mail may be sent. */
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
