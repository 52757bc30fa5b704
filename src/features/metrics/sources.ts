import type { MikroORM } from '@mikro-orm/core'

/** The parts of the site that the metrics read. */
export interface Sources {
  readonly orm: MikroORM
  /** `waiting` are the events that the database has refused. */
  readonly trail: { readonly waiting: readonly object[] }
}
