import { defineEntity, p } from '@mikro-orm/core'

const AttemptCountSchema = defineEntity({
  name: 'AttemptCount',
  tableName: 'attempts',
  indexes: [
    { name: 'attempts_counter_index', properties: ['counter'] },
    { name: 'attempts_expires_at_index', properties: ['expiresAt'] },
    { name: 'attempts_at_index', properties: ['at'] },
  ],
  properties: {
    // The counter and the number of the slice.
    id: p.string().length(40).primary(),
    // A digest of the action, the allowance, and the account, network or device that the allowance counts by.
    counter: p.string().length(22),
    // A digest of the account, to delete its counters.
    account: p.string().length(22).nullable(),
    // The time of the latest attempt, in milliseconds since 1970.
    at: p.bigint('number'),
    expiresAt: p.bigint('number'),
    used: p.integer(),
    // Attempts under evaluation. They count toward the limit too.
    running: p.integer(),
  },
})

/** The attempts of a counter in one slice of its window. `Counters` reads and writes it in SQL. */
export class AttemptCount extends AttemptCountSchema.class {}

AttemptCountSchema.setClass(AttemptCount)
