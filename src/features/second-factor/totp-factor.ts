import { defineEntity, p } from '@mikro-orm/core'
import { User } from '../../users/user.ts'

const TotpFactorSchema = defineEntity({
  name: 'TotpFactor',
  tableName: 'totp_factors',
  properties: {
    user: () => p.manyToOne(User).primary().deleteRule('cascade').index(false),
    // The key, encrypted by `SecretBox`.
    secret: p.string().length(200),
    // The step of the last accepted code.
    lastStep: p.integer(),
    // Null until the user has confirmed the set-up with a code.
    confirmedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
  },
})

/** The authenticator app of a user. */
export class TotpFactor extends TotpFactorSchema.class {}

TotpFactorSchema.setClass(TotpFactor)
