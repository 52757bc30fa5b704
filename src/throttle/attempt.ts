import { defineEntity, p } from '@mikro-orm/core'

const AttemptSchema = defineEntity({
  name: 'Attempt',
  tableName: 'attempts',
  indexes: [
    { name: 'attempts_account_index', properties: ['action', 'account', 'at'] },
    { name: 'attempts_network_index', properties: ['action', 'network', 'at'] },
    { name: 'attempts_at_index', properties: ['at'] },
  ],
  properties: {
    id: p.uuid().primary(),
    // What was attempted: `password`, `sign-up`, `token`.
    action: p.string(),
    // Digests of whom it was about and of where it came from.
    account: p.string(),
    network: p.string(),
    device: p.string().nullable(),
    // Milliseconds since 1970.
    at: p.bigint('number'),
    // Whether it is still being evaluated. Until then it counts like one that failed.
    pending: p.boolean(),
  },
})

/** A row of the throttle, which writes and counts them in statements of its own: counting and taking is one. */
export class Attempt extends AttemptSchema.class {}

AttemptSchema.setClass(Attempt)
