import type { MikroORM } from '@mikro-orm/core'
import type { ExtendableContext } from 'koa'
import { type DatabasesOptions, databases } from '../mikro-orm/databases.ts'
import { prepared } from '../mikro-orm/prepared/index.ts'

/** The context of a new request to an application with that database. */
export function requestTo(orm: MikroORM, options?: DatabasesOptions): object {
  const ctx = {}
  databases(orm, options)(ctx as ExtendableContext, async () => {})
  return ctx
}

const lookUps = prepared()

/** The context of a new request to an application with prepared look-ups. */
export function preparedRequestTo(orm: MikroORM): object {
  return requestTo(orm, { lookUps })
}
