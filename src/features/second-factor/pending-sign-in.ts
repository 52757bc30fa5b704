import { defineEntity, p } from '@mikro-orm/core'
import { User } from '../../users/user.ts'

const PendingSignInSchema = defineEntity({
  name: 'PendingSignIn',
  tableName: 'pending_sign_ins',
  indexes: [
    { name: 'pending_sign_ins_expires_at_index', properties: ['expiresAt'] },
    { name: 'pending_sign_ins_created_at_index', properties: ['createdAt'] },
  ],
  properties: {
    // SHA-256 of the value in the cookie.
    digest: p.string().length(43).primary(),
    user: () => p.manyToOne(User).deleteRule('cascade').index(),
    // A digest of the times of the last changes of the password and of the second factor.
    account: p.string().length(43),
    // The path to redirect to afterwards.
    next: p.string().length(2048).nullable(),
    // "Keep me signed in on this device".
    kept: p.boolean(),
    expiresAt: p.datetime(),
    createdAt: p.datetime(),
  },
})

/** A sign-in with the right password that waits for a code. It is not a session, and opens nothing else. */
export class PendingSignIn extends PendingSignInSchema.class {}

PendingSignInSchema.setClass(PendingSignIn)
