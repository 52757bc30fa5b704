import { defineEntity, p } from '@mikro-orm/core'
import { User } from '../../users/user.ts'

const RecoveryCodeSchema = defineEntity({
  name: 'RecoveryCode',
  tableName: 'recovery_codes',
  properties: {
    // SHA-256 of the code.
    digest: p.string().length(43).primary(),
    user: () => p.manyToOne(User).deleteRule('cascade').index(),
    createdAt: p.datetime(),
  },
})

/** A code that replaces the authenticator app once. The row is deleted when the code is used. */
export class RecoveryCode extends RecoveryCodeSchema.class {}

RecoveryCodeSchema.setClass(RecoveryCode)
