import { defineEntity, p } from '@mikro-orm/core'

const AttemptCountSchema = defineEntity({
  name: 'AttemptCount',
  tableName: 'attempts',
  properties: {
    // The name of the counter, and the number of the half window.
    id: p.string().length(40).primary(),
    // When the latest attempt leaves the window, in milliseconds since 1970.
    expiresAt: p.bigint('number').index('attempts_expires_at_index'),
    used: p.integer(),
    // Attempts under evaluation. They count toward the limit too.
    running: p.integer(),
  },
})

/** The attempts of a counter in one half of its window. */
export class AttemptCount extends AttemptCountSchema.class {}

AttemptCountSchema.setClass(AttemptCount)
