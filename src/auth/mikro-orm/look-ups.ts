import type { EntityManager } from '@mikro-orm/core'
import type { Class } from '../checks.ts'

/** The options of a look-up. */
export interface LookUpOptions<Model extends object = object> {
  readonly model: Class<Model>
  /** The property that is compared with the key, such as `value`. */
  readonly property: string
  /** A relation to load too, such as `user`. */
  readonly relation?: string | undefined
}

/** A value that a look-up compares with a column. */
export type Key = string | number

/** The look-ups of one request. */
export interface RequestLookUps {
  /** Finds an entity, or calls `findOne`, which finds it with `em.findOne`. */
  find(
    options: LookUpOptions,
    value: Key,
    database: string,
    findOne: () => Promise<object | undefined>,
  ): Promise<object | undefined>
  /** Forks the entity manager of the request, which manages the entities that were found before. */
  fork(database: string): EntityManager
}
