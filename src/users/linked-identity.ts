import { defineEntity, type EntityManager, p } from '@mikro-orm/core'
import { v7 as uuidv7 } from 'uuid'
import { User } from './user.ts'

const LinkedIdentitySchema = defineEntity({
  name: 'LinkedIdentity',
  tableName: 'identities',
  uniques: [{ properties: ['issuer', 'subject'] }],
  properties: {
    // The public identifier.
    id: p
      .uuid()
      .primary()
      .onCreate(() => uuidv7()),
    user: () => p.manyToOne(User).deleteRule('cascade').index().hidden(),
    // The name in `PROVIDERS`.
    provider: p.string().length(30),
    issuer: p.string().length(255).hidden(),
    // At most 255 ASCII characters (OpenID Connect Core §2).
    subject: p.string().length(255).hidden(),
    // The provider and the person's address or name there, so that the user can tell two identities apart.
    label: p.string().length(254),
    createdAt: p.datetime(),
    lastUsedAt: p.datetime().nullable(),
  },
})

/** A person's account at an identity provider, which signs a user in. The row contains no token. */
export class LinkedIdentity extends LinkedIdentitySchema.class {}

LinkedIdentitySchema.setClass(LinkedIdentity)

/** The identities of a user, oldest first. */
export function listIdentities(em: EntityManager, user: string): Promise<LinkedIdentity[]> {
  return em.find(LinkedIdentity, { user }, { orderBy: { id: 'asc' }, disableIdentityMap: true })
}

/** The record of a connected account at an identity provider. */
export function identityRecord({ id, provider, label, createdAt, lastUsedAt = null }: LinkedIdentity) {
  return { id, provider, label, createdAt, lastUsedAt }
}
