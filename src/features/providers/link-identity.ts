import { type EntityManager, UniqueConstraintViolationException } from '@mikro-orm/core'
import type { Identity } from '#auth/openid'
import { type Notice, notify } from '../../account/notify.ts'
import type { Services } from '../../account/services.ts'
import { changeAccount } from '../../account/sessions/change-account.ts'
import { audit } from '../../site/audit.ts'
import { seeOther } from '../../site/page.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { LinkedIdentity, listIdentities } from '../../users/linked-identity.ts'
import { User } from '../../users/user.ts'
import type { Answered } from './site-providers.ts'

/** The maximum number of identities of a user. */
const maxIdentities = 10

/**
 * Links an identity to the account of the session that started the flow.
 *
 * @throws {Refusal} 409 if the session has ended, or if the credentials of the account have changed
 */
export async function linkIdentity(
  services: Services,
  ctx: SiteContext,
  { provider, identity }: Pick<Answered, 'provider' | 'identity'>,
): Promise<void> {
  const label = labelOf(provider.label, identity)
  const problem = await link(services, ctx, { provider: provider.id, identity, label })
  if (problem !== undefined) return seeOther(ctx, '/account/security', problem)
  audit(ctx, 'identity added', ctx.auth.require(User), { detail: label })
  seeOther(ctx, '/account/security', `${label} has been connected. You can sign in with it now.`)
}

interface NewIdentity {
  readonly provider: string
  readonly identity: Pick<Identity, 'issuer' | 'subject'>
  readonly label: string
}

const identityAdded: Notice = {
  subject: 'An account of a provider was connected',
  text: 'An account of an identity provider was connected to your account. It can sign in without the password, and a new password does not disconnect it. You can disconnect it on the page “Security” of your account.',
}

async function link(services: Services, ctx: SiteContext, added: NewIdentity): Promise<string | undefined> {
  const { issuer, subject } = added.identity
  try {
    return await changeAccount(ctx, async (em, user) => {
      const own = await listIdentities(em, user.id)
      if (own.some((each) => each.issuer === issuer && each.subject === subject))
        return `${added.label} is connected already.`
      if (own.length >= maxIdentities)
        return `An account can have ${maxIdentities} connected accounts. Disconnect one first.`
      await insertIdentity(em, user.id, added)
      await notify(services, ctx, em, user, identityAdded)
      return undefined
    })
  } catch (error) {
    // An identity moves to no other account, and its account is not named.
    if (error instanceof UniqueConstraintViolationException)
      return `${added.label} is connected to another account of this site.`
    throw error
  }
}

/** Call it with the account locked. */
export async function insertIdentity(
  em: EntityManager,
  user: string,
  { provider, identity: { issuer, subject }, label }: NewIdentity,
): Promise<void> {
  const createdAt = new Date()
  em.create(LinkedIdentity, { user, provider, issuer, subject, label, createdAt, lastUsedAt: null })
  await em.flush()
}

/** The name of an identity on pages, such as `Google (ada@example.com)`. */
export function labelOf(
  provider: string,
  { email, name }: { readonly email?: string | undefined; readonly name?: string | undefined },
): string {
  const person = (email ?? name ?? '').toWellFormed().replace(/\p{C}/gu, '').slice(0, 200).toWellFormed()
  return person === '' ? provider : `${provider} (${person})`
}
