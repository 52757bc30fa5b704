import { type EntityManager, UniqueConstraintViolationException } from '@mikro-orm/core'
import { entityManager } from '#auth/mikro-orm'
import type { SiteContext } from '../site/site-context.ts'
import { hashPassword, noPassword } from '../users/password.ts'
import { emailKey, User } from '../users/user.ts'
import { limited } from './limits.ts'
import { outboxForVerification } from './mail-limit.ts'
import type { Services } from './services.ts'

interface NewAccount {
  readonly name: string
  readonly email: string
  /** Without it, the account has no password. */
  readonly password?: string
  /** Whether an identity provider has verified the address. Otherwise, a link is mailed to it. */
  readonly isVerified?: boolean
  /** Called in the transaction that creates the account. */
  readonly onCreated?: (em: EntityManager, user: User) => Promise<void>
}

/**
 * Creates the account of a sign-up. Returns `undefined` if another account has the e-mail address, in any letter case.
 * @throws {TryLater} 429 after too many sign-ups
 */
export function createAccount(
  services: Services,
  ctx: SiteContext,
  account: NewAccount,
): Promise<User | undefined> {
  const key = emailKey(account.email)
  return limited(services, ctx, { action: 'sign-up', account: key }, async () => {
    const isInUse = await entityManager(ctx).count(User, { emailKey: key }, { filters: false })
    return isInUse ? undefined : insert(services, ctx, account)
  })
}

async function insert(
  services: Services,
  ctx: SiteContext,
  { name, email, password, isVerified = false, onCreated }: NewAccount,
): Promise<User | undefined> {
  const passwordHash = password === undefined ? noPassword : await hashPassword(password)
  const outbox = isVerified ? undefined : await outboxForVerification(services, ctx, email)
  const emailVerifiedAt = isVerified ? new Date() : null
  try {
    return await entityManager(ctx).transactional(async (em) => {
      const user = em.create(User, { name, email, emailKey: emailKey(email), passwordHash, emailVerifiedAt })
      await em.flush()
      await onCreated?.(em, user)
      await outbox?.add(em, { kind: 'verify', to: email, userId: user.id })
      return user
    })
  } catch (error) {
    // A concurrent request has created an account with this address.
    if (error instanceof UniqueConstraintViolationException) return undefined
    throw error
  }
}
