import { type EntityManager, UniqueConstraintViolationException } from '@mikro-orm/core'
import { entityManager } from '#auth/mikro-orm'
import { unexpired } from '../database/expired-rows.ts'
import type { CreateLink } from '../mail/mail-kinds.ts'
import type { Outbox } from '../mail/outbox.ts'
import { FieldRefusal, Refusal } from '../refusal.ts'
import { audit } from '../site/audit.ts'
import type { SiteContext } from '../site/site-context.ts'
import { changeCredentials } from '../users/change-credentials.ts'
import { addressInUse } from '../users/email.ts'
import { consumeOneTimeToken, issueOneTimeToken, OneTimeToken } from '../users/one-time-tokens.ts'
import { emailKey, lockAccount, User } from '../users/user.ts'
import { type Notice, notify } from './notify.ts'
import type { Services } from './services.ts'
import { changeAccount } from './sessions/change-account.ts'
import { requireSession } from './sessions/current-session.ts'

declare module '../mail/message.ts' {
  interface Mails {
    /** A link, sent to the new address, that changes the address of an account. */
    'change-email': undefined
    /** For the owner of an address, after another account has requested a change to this address. */
    'address-taken': undefined
  }
}

const changeRequested: Notice = {
  subject: 'Request to change your e-mail address',
  text: 'A change of your e-mail address was requested from your account. We have sent a link to the new address. Nothing changes until the link is used.',
}
const changed: Notice = {
  subject: 'Your e-mail address was changed',
  text: 'The e-mail address of your account was changed. Only the new address can sign in now.',
  needsOperator: true,
}

const purpose = 'change-email'
/** The time in which a new address must be confirmed: 24 hours in milliseconds. */
const changeLifetime = 24 * 60 * 60_000

/**
 * Stores a change of the address as a one-time token, which replaces a pending change. The change is stored even if another account
 * has the address. Otherwise, the response and the pages would reveal that account.
 */
export async function requestAddress(
  services: Services,
  ctx: SiteContext,
  outbox: Outbox,
  email: string,
): Promise<void> {
  await changeAccount(ctx, async (em, user) => {
    // This token is never sent, because `createChangeLink` issues the token of the link.
    const token = await issueOneTimeToken(em, { purpose, account: user, email, lifetime: changeLifetime })
    if (!token) throw new Refusal(409, 'This account has just been changed.')
    const where = { emailKey: emailKey(email), id: { $ne: user.id } }
    const owner = await em.findOne(User, where, { filters: false, disableIdentityMap: true })
    const mail = owner
      ? // Without `userId`. Its foreign key would lock the row of the other account, which could cause a deadlock.
        ({ kind: 'address-taken', to: owner.email } as const)
      : ({ kind: 'change-email', to: email, userId: user.id } as const)
    await outbox.add(em, mail)
    await notify(services, ctx, em, user, changeRequested)
  })
}

/** The new address that is not confirmed yet. */
export async function pendingAddress(em: EntityManager, user: User): Promise<string | undefined> {
  return (await pendingChange(em, user))?.email
}

/** Cancels the pending change. Returns whether there was one. Without the lock, a concurrent `createChangeLink` could restore the row. */
export function cancelAddress(ctx: SiteContext): Promise<boolean> {
  return changeAccount(
    ctx,
    async (em, { id: user }) => (await em.nativeDelete(OneTimeToken, { user, purpose })) === 1,
  )
}

function pendingChange(em: EntityManager, { id: user }: User): Promise<OneTimeToken | null> {
  return em.findOne(OneTimeToken, { user, purpose, ...unexpired() }, { disableIdentityMap: true })
}

/** Creates the link of a mail to a new address. Returns `undefined` if the change is no longer pending. */
const createChangeLink: CreateLink = ({ address, userId = '' }, { em, origin }) =>
  em.transactional(async (em) => {
    await lockAccount(em, { id: userId })
    const account = await em.findOne(User, { id: userId })
    const pending = account && (await pendingChange(em, account))
    if (!account || !pending || pending.email !== address) return undefined
    // The new link keeps the expiry of the pending change.
    const lifetime = pending.expiresAt.getTime() - Date.now()
    const token = await issueOneTimeToken(em, { purpose, account, email: address, lifetime })
    // The token is in the query, because the request log contains paths without queries.
    return token ? { url: `${origin}/verify?token=${token}`, lifetime } : undefined
  })

export const addressMails = {
  'change-email': { subject: 'Confirm your new e-mail address', createLink: createChangeLink },
  'address-taken': { subject: 'You already have an account' },
}

/**
 * Changes the address of an account to the one that the link was sent to, and ends the account's other links. Sessions and tokens
 * stay valid. The caller has checked that the link belongs to the signed-in user.
 *
 * @throws {Refusal} 410, if the link is no longer valid
 * @throws {FieldRefusal} 409, if another account has the address by now. The link stays valid
 */
export async function confirmNewAddress(services: Services, ctx: SiteContext, token: string): Promise<void> {
  try {
    const grant = await entityManager(ctx).transactional(async (em) => {
      const grant = await consumeOneTimeToken(em, token, [purpose])
      const { id, name } = grant.user
      await requireSession(em, ctx)
      const verified = { email: grant.email, emailVerifiedAt: new Date() }
      await changeCredentials(em, id, { ...verified, emailKey: emailKey(grant.email) })
      await em.nativeDelete(OneTimeToken, { user: id })
      await notify(services, ctx, em, grant.user, changed)
      await notify(services, ctx, em, { id, name, ...verified }, changed)
      return grant
    })
    audit(ctx, 'address changed', grant.user, { detail: `${grant.user.email} → ${grant.email}` })
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException)
      throw new FieldRefusal('email_taken', [addressInUse])
    throw error
  }
}
