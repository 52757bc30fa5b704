import { defineEntity, p } from '@mikro-orm/core'
import { v7 as uuidv7 } from 'uuid'

const EventSchema = defineEntity({
  name: 'Event',
  tableName: 'events',
  indexes: [
    { name: 'events_user_id_index', properties: ['userId', 'id'] },
    { name: 'events_at_index', properties: ['at'] },
  ],
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => uuidv7()),
    at: p.datetime(),
    event: p.string().length(40),
    // No foreign key: what happened stays known when the account is gone.
    userId: p.string().nullable(),
    address: p.string().length(45),
    userAgent: p.string().length(255),
    request: p.string().length(36),
    // Refusals of one account and day are one row, which tells the last of them and how many there were.
    times: p.integer().default(1),
    refusal: p.string().length(100).nullable().unique('events_refusal_unique'),
  },
})

/** Something that happened to an account, or to the site: never a secret. */
export class Event extends EventSchema.class {}

EventSchema.setClass(Event)
