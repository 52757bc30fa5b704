import type { MikroORM } from '@mikro-orm/core'
import type { ExtendableContext } from 'koa'
import { databases } from '../mikro-orm/databases.ts'
import type { ReadOptions } from '../mikro-orm/prepared-read.ts'

/** The context of a new request to an application on that database. */
export function requestTo(orm: MikroORM, options?: ReadOptions): object {
  const ctx = {}
  databases(orm, options)(ctx as ExtendableContext, async () => {})
  return ctx
}
