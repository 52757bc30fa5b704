import { defineEntity, p } from '@mikro-orm/core'
import { v7 as uuidv7 } from 'uuid'
import { User } from '../users/user.ts'
import type { MailKind } from './mail-kinds.ts'

const MailSchema = defineEntity({
  name: 'Mail',
  tableName: 'mails',
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => uuidv7()),
    kind: p.string().length(40).$type<MailKind>(),
    // The only recipient.
    address: p.string().length(254),
    // The data for the template. It contains no secret.
    data: p.json().$type<object>(),
    // Deleted with the account. A mail that outlives its account has no user.
    user: () => p.manyToOne(User).nullable().deleteRule('cascade').index(),
    createdAt: p.datetime(),
    // The time of the next attempt. While a process sends the mail, the end of its lease.
    dueAt: p.datetime().index('mails_due_at_index'),
    // The number of attempts, including the current one.
    tries: p.integer().default(0),
  },
})

/** A mail that is not sent yet. `Outbox` deletes the row when the mail server has accepted the mail. */
export class Mail extends MailSchema.class {}

MailSchema.setClass(Mail)
