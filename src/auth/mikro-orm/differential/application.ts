import type { CreateSchemaOptions, EntityClass, EntityManager, EntitySchema, MikroORM } from '@mikro-orm/core'
import type { LookUpOptions } from '../index.ts'
import type { AnyOptions } from './open-database.ts'

/** How a look-up asks the database: by a prepared statement, or by `em.findOne`. */
export type Way = 'prepared' | 'findOne'

/** A value that is looked up. */
export type Key = string | number

/** An application whose entities are looked up in both ways. */
export interface Application {
  readonly entities: readonly (EntityClass<object> | EntitySchema)[]
  readonly sought: LookUpOptions
  readonly value: Key
  /** Finds by the primary key, given as text, with `KeyLookUp`. */
  readonly byKey?: string | undefined
  /** What both ways come to, if that is no entity. */
  readonly finds?: 'an entity' | 'nothing' | 'an error'
  /** Inserts the rows. */
  fill(em: EntityManager, orm: MikroORM, entities: Application['entities']): Promise<unknown>
  /** Changes the entity, for a flush. */
  change(found: object): void
  readonly options?: AnyOptions | undefined
  /** Options of the schema generator. */
  readonly create?: CreateSchemaOptions
  /** Something that the application does before the first look-up. */
  prepare?(orm: MikroORM): unknown
  /** Something that it does after the first look-up. */
  later?(orm: MikroORM): unknown
}

/** One way to find, in one request. */
export interface Request {
  find(value?: Key): Promise<object | undefined>
  /** The entity manager of the request, which handlers use. */
  manager(): EntityManager
}
