import type { MikroORM } from '@mikro-orm/core'
import type { ExtendableContext } from 'koa'
import { databases } from '../mikro-orm/databases.ts'

/** The context of a new request to an application with that database. */
export function requestTo(orm: MikroORM): object {
  const ctx = {}
  databases(orm)(ctx as ExtendableContext, async () => {})
  return ctx
}
