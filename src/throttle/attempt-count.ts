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
    // The counter and the slice of time.
    id: p.string().length(40).primary(),
    // A digest of the action, the allowance and the columns that it is counted by.
    counter: p.string().length(22),
    // A digest of the account, so that its counters can be deleted.
    account: p.string().length(22).nullable(),
    // The latest attempt of the slice, in milliseconds since 1970.
    at: p.bigint('number'),
    expiresAt: p.bigint('number'),
    used: p.integer(),
    // Attempts that are being evaluated. They count like used ones.
    running: p.integer(),
  },
})

/** The attempts that one counter saw in one slice of its window. `Counters` reads and writes it in SQL. */
export class AttemptCount extends AttemptCountSchema.class {}

AttemptCountSchema.setClass(AttemptCount)
