import { p } from '@mikro-orm/core'
import { v7 as uuidv7 } from 'uuid'

/** The columns of the tables `users` and `admins`. */
export const person = {
  // Version 7 keeps inserts in index order.
  id: p
    .uuid()
    .primary()
    .onCreate(() => uuidv7()),
  name: p.string().length(100),
  email: p.string().length(254).unique(),
  // The address in lower case, so that it is unique regardless of case.
  emailKey: p.string().length(254).unique().hidden().lazy(),
  // The time at which the owner has proved the address. Unused for admins, who have the same columns.
  emailVerifiedAt: p.datetime().nullable().hidden(),
  passwordHash: p.string().length(60).hidden().lazy(),
  // Signed tokens from before this time are invalid. Some tokens have their time of issue in whole seconds, so a new account
  // has a time that is one second early. Otherwise, a token that is issued in the same second would be invalid.
  passwordChangedAt: p
    .datetime()
    .hidden()
    .onCreate(() => new Date(Date.now() - 1000)),
  // The time at which the owner turned on a second factor. Unused for admins.
  secondFactorAt: p.datetime().nullable().hidden(),
  // Incremented when the address, the password or the second factor changes (`changeCredentials`).
  credentialsVersion: p.integer().default(0).hidden(),
  disabledAt: p.datetime().nullable().hidden(),
  createdAt: p
    .datetime()
    .hidden()
    .onCreate(() => new Date()),
}

/** Hides disabled accounts in every query without `filters: false`. */
export const enabled = { enabled: { name: 'enabled', cond: { disabledAt: null }, default: true } }
