import type { CreateSchemaOptions, EntityClass, EntityManager, EntitySchema, MikroORM } from '@mikro-orm/core'
import type { LookUpOptions } from '../../look-ups.ts'
import type { AnyOptions } from './open-database.ts'

/** How a look-up queries the database: with a prepared statement or with `em.findOne`. */
export type Strategy = 'prepared' | 'findOne'

export type Key = string | number

/** An application for the comparison of `LookUp` with `em.findOne`. */
export interface Application {
  readonly entities: readonly (EntityClass<object> | EntitySchema)[]
  readonly lookUpOptions: LookUpOptions
  readonly value: Key
  /** The primary key as text. If it is given, `KeyLookUp` is tested. */
  readonly byKey?: string | undefined
  /** The expected result, an entity by default. */
  readonly finds?: 'an entity' | 'nothing' | 'an error'
  fill(em: EntityManager, orm: MikroORM, entities: Application['entities']): Promise<unknown>
  /** Changes the entity before a flush. */
  change(found: object): void
  readonly options?: AnyOptions | undefined
  /** Options of the schema generator. */
  readonly create?: CreateSchemaOptions
  /** Called before the first look-up. */
  prepare?(orm: MikroORM): unknown
  /** Called after the first look-up. */
  later?(orm: MikroORM): unknown
}

/** Look-ups of one request, by `LookUp` or by `em.findOne`. */
export interface Request {
  find(value?: Key): Promise<object | undefined>
  /** The entity manager of the request, which handlers use. */
  manager(): EntityManager
}
