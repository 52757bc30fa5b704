import type { EntityManager } from '@mikro-orm/core'
import type { CreateLink } from '../../mail/mail-sender.ts'
import type { Outbox } from '../../mail/outbox.ts'
import { issueOneTimeToken } from '../../users/one-time-tokens.ts'
import { isVerified } from '../../users/person.ts'
import { User } from '../../users/user.ts'

/** How long a verification link works: three days in milliseconds. */
export const verificationLifetime = 3 * 24 * 60 * 60_000

/** Queues a mail with a link that verifies the address of an account. */
export function queueVerification(
  outbox: Outbox,
  em: EntityManager,
  { id, email }: Pick<User, 'id' | 'email'>,
): Promise<void> {
  return outbox.add(em, { kind: 'verify', to: email, userId: id })
}

/** Creates the link when the mail is sent, unless the address was verified or changed after the mail was queued. */
export const createVerificationLink: CreateLink = async ({ address, userId = '' }, { em, origin }) => {
  const account = await em.findOne(User, { id: userId, email: address })
  if (!account || isVerified(account)) return undefined
  const lifetime = verificationLifetime
  const token = await issueOneTimeToken(em, { purpose: 'verify', account, lifetime })
  return token === undefined ? undefined : { url: `${origin}/verify?token=${token}`, lifetime }
}
