import { defineEntity, p } from '@mikro-orm/core'
import { User } from './user.ts'

const OneTimeTokenSchema = defineEntity({
  name: 'OneTimeToken',
  tableName: 'one_time_tokens',
  uniques: [{ name: 'one_time_tokens_user_id_purpose_unique', properties: ['user', 'purpose'] }],
  indexes: [
    { name: 'one_time_tokens_expires_at_index', properties: ['expiresAt'] },
    { name: 'one_time_tokens_created_at_index', properties: ['createdAt'] },
  ],
  properties: {
    // SHA-256 of the token in the link.
    digest: p.string().length(43).primary(),
    purpose: p.string().length(20),
    // Covered by the unique index.
    user: () => p.manyToOne(User).deleteRule('cascade').index(false),
    // The address that the link was sent to. An empty text if it was not mailed.
    email: p.string().length(254),
    // A digest of the account's address and of the time of its last password change.
    account: p.string().length(43),
    expiresAt: p.datetime(),
    createdAt: p.datetime(),
  },
})

/** The token of a link that works once. A row is never updated. Only `one-time-tokens.ts` reads and writes it. */
export class OneTimeToken extends OneTimeTokenSchema.class {}

OneTimeTokenSchema.setClass(OneTimeToken)
