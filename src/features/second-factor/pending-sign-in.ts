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
    // A digest of the times when the password and the second factor last changed.
    account: p.string().length(43),
    // The path to redirect to after the sign-in.
    next: p.string().length(2048).nullable(),
    // "Keep me signed in on this device".
    kept: p.boolean(),
    expiresAt: p.datetime(),
    createdAt: p.datetime(),
  },
})

/** A sign-in with the right password that waits for a code. It is not a session, and gives access only to the code form. */
export class PendingSignIn extends PendingSignInSchema.class {}

PendingSignInSchema.setClass(PendingSignIn)
