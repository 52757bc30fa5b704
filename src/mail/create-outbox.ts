import type { MikroORM } from '@mikro-orm/core'
import type { Config } from '../config/config.ts'
import type { Logger } from '../log/log.ts'
import { mailFolder } from './mail-folder.ts'
import { MailTemplates } from './mail-templates.ts'
import { Outbox } from './outbox.ts'
import { smtp } from './smtp.ts'

/** Creates the outbox of the configuration. Returns `undefined` if the site sends no mail. */
export function createOutbox(orm: MikroORM, config: Config, log: Logger): Outbox | undefined {
  if (!config.mail) return undefined
  const { from, server, folder } = config.mail
  const deliver = server ? smtp(server, from) : mailFolder(folder, from)
  return new Outbox(orm, { deliver, templates: new MailTemplates(config), log })
}
