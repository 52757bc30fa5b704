import { p } from '@mikro-orm/core'
import { v7 as uuidv7 } from 'uuid'

/** The columns of `users`, and of `admins` beside it (specification, "User"; HTTP contract, "Records"). */
export const person = {
  // Version 7, so that inserts stay in index order.
  id: p
    .uuid()
    .primary()
    .onCreate(() => uuidv7()),
  name: p.string().length(100),
  email: p.string().length(254).unique(),
  // The address in lower case: two addresses that differ in case only can never be two people.
  emailKey: p.string().length(254).unique().hidden(),
  passwordHash: p.string().length(60).hidden(),
  // Signed tokens that say it must say the same. Others count no more if they are from before it, or from the same second,
  // which is all that they tell. A new account has none from before, so the second before will do.
  passwordChangedAt: p
    .datetime()
    .hidden()
    .onCreate(() => new Date(Date.now() - 1000)),
  disabledAt: p.datetime().nullable().hidden(),
  createdAt: p
    .datetime()
    .hidden()
    .onCreate(() => new Date()),
}

/** On every look-up unless it says `filters: false`: whoever is disabled is nobody. */
export const enabled = { enabled: { name: 'enabled', cond: { disabledAt: null }, default: true } }
