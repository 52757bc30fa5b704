import { defineEntity, type EntityManager, p } from '@mikro-orm/core'
import { unexpired } from '../database/expired-rows.ts'
import { digestOf, newIdentifier } from '../database/identifier.ts'
import { Refusal } from '../refusal.ts'
import { lockAccount, User } from './user.ts'

const OneTimeTokenSchema = defineEntity({
  name: 'OneTimeToken',
  tableName: 'one_time_tokens',
  uniques: [{ properties: ['user', 'purpose'] }],
  properties: {
    // SHA-256 of the token in the link.
    digest: p.string().length(43).primary(),
    purpose: p.string().length(20).$type<Purpose>(),
    // Covered by the unique index.
    user: () => p.manyToOne(User).deleteRule('cascade').index(false),
    // The address that the link was sent to. Empty if the link was not mailed.
    email: p.string().length(254),
    expiresAt: p.datetime().index(),
    createdAt: p.datetime().index(),
  },
})

/** The token of a link that works once. A row is never updated. A change of the address or the password deletes it. */
export class OneTimeToken extends OneTimeTokenSchema.class {}

OneTimeTokenSchema.setClass(OneTimeToken)

/** The purpose of a link. A look-up finds only tokens of the purposes that it names. */
export type Purpose = 'reset' | 'verify' | 'change-email' | 'invite'

export interface NewOneTimeToken {
  readonly purpose: Purpose
  /** The account as the caller read it. */
  readonly account: Pick<User, 'id' | 'email' | 'credentialsVersion'>
  /** The address that the link is sent to. Empty if the link is not mailed. By default the address of the account. */
  readonly email?: string
  /** In milliseconds. */
  readonly lifetime: number
}

/**
 * Issues a token of 256 random bits, which replaces the account's earlier token of this purpose. Only its digest is stored.
 * @returns `undefined` if the account is disabled or deleted, or if its credentials have changed since the caller read it
 */
export async function issueOneTimeToken(
  em: EntityManager,
  { purpose, account, email = account.email, lifetime }: NewOneTimeToken,
  now = Date.now(),
): Promise<string | undefined> {
  const { id: user } = account
  const token = newIdentifier()
  const dates = { createdAt: new Date(now), expiresAt: new Date(now + lifetime) }
  return em.transactional(async (em) => {
    if (!(await lockAccount(em, account))) return undefined
    await em.nativeDelete(OneTimeToken, { user, purpose })
    await em.insert(OneTimeToken, { digest: digestOf(token), purpose, user, email, ...dates })
    return token
  })
}

const gone = 'This link no longer works. Ask for a new one.'

/**
 * Finds a valid token with its user. Changes nothing, because mail scanners open links.
 * @throws {Refusal} 410 if the link does not work. The error is the same for unknown, used, expired and replaced links
 */
export async function findOneTimeToken(
  em: EntityManager,
  token: string,
  purposes: readonly Purpose[],
  now = Date.now(),
): Promise<OneTimeToken> {
  const where = { digest: digestOf(token), purpose: { $in: [...purposes] }, ...unexpired(now) }
  // Without the identity map, which may contain an older state of the account.
  const options = { populate: ['user'], disableIdentityMap: true } as const
  const found = /^[\w-]{43}$/.test(token) && (await em.findOne(OneTimeToken, where, options))
  if (!found) throw new Refusal(410, gone)
  return found
}

/**
 * Uses up a token and locks its account. Call it first in the transaction that does the work, so that an error keeps the token.
 * @throws {Refusal} 410 if the token is not valid, or if a concurrent transaction has used it up
 */
export async function consumeOneTimeToken(
  em: EntityManager,
  token: string,
  purposes: readonly Purpose[],
  now = Date.now(),
): Promise<OneTimeToken> {
  const { user } = await findOneTimeToken(em, token, purposes, now)
  await lockAccount(em, { id: user.id })
  // Read again, because the account may have changed while the lock was awaited.
  const grant = await findOneTimeToken(em, token, purposes, now)
  if ((await em.nativeDelete(OneTimeToken, { digest: digestOf(token) })) !== 1) throw new Refusal(410, gone)
  return grant
}
