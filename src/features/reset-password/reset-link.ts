import type { EntityManager } from '@mikro-orm/core'
import { hour } from '../../durations.ts'
import type { CreateLink } from '../../mail/mail-kinds.ts'
import { issueOneTimeToken, type NewOneTimeToken } from '../../users/one-time-tokens.ts'
import { emailKey, User } from '../../users/user.ts'

/** How long the links work, in milliseconds. */
const lifetimes = { reset: hour, invite: 24 * hour }

/** A reset, or the choice of the first password after an invitation. */
type ResetPurpose = keyof typeof lifetimes

interface ResetLink extends Pick<NewOneTimeToken, 'account' | 'email'> {
  readonly origin: string
  readonly purpose?: ResetPurpose
}

/**
 * Creates a link to choose a new password or, with the purpose `invite`, the first password. It replaces the account's earlier
 * link of this purpose.
 * @param origin the origin of the site, never the `Host` of a request, because an attacker can choose it
 * @returns `undefined` if the account is disabled or deleted, or if its password has changed since the caller read the account
 */
export async function createResetLink(
  em: EntityManager,
  { origin, purpose = 'reset', ...recipient }: ResetLink,
): Promise<string | undefined> {
  const token = await issueOneTimeToken(em, { ...recipient, purpose, lifetime: lifetimes[purpose] })
  // The token is in the query, because the request log contains paths but no queries.
  return token && `${origin}/reset?token=${token}`
}

declare module '../../mail/message.ts' {
  interface Mails {
    /** An operator has created the account: a link to choose the first password. */
    invite: undefined
    /** A link to choose a new password. */
    reset: undefined
  }
}

export const resetMails = {
  invite: { subject: 'Choose the password of your account', createLink: createMailedLink('invite') },
  reset: { subject: 'Choose a new password', createLink: createMailedLink('reset') },
}

/** The mail goes to the address as the account spells it. */
function createMailedLink(purpose: ResetPurpose): CreateLink {
  return async ({ address, userId }, { em, origin }) => {
    // A mail from `/forgot` has no `userId`.
    const account = await em.findOne(User, userId ? { id: userId } : { emailKey: emailKey(address) })
    const url = account && (await createResetLink(em, { account, origin, purpose }))
    return url ? { url, lifetime: lifetimes[purpose], to: account.email } : undefined
  }
}
