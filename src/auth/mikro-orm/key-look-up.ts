import type { EntityProperty, MikroORM } from '@mikro-orm/core'
import type { Class } from '../class.ts'
import { databasesOf } from './databases.ts'
import { LookUp } from './look-up.ts'
import { keyFrom, primaryKeyOf } from './model.ts'

/**
 * Finds an entity by its primary key, as fast as `LookUp` does; and without asking where the request has found it already,
 * as the user of a session that was looked up, say.
 */
export class KeyLookUp<Model extends object> {
  readonly #model: Class<Model>
  readonly #keys = new WeakMap<MikroORM, EntityProperty>()
  #lookUp: LookUp<Model> | undefined

  constructor(model: Class<Model>) {
    this.#model = model
  }

  /**
   * The entity, or nobody: a key of the wrong form is nobody's, not an error of the database.
   *
   * @param database the name that it was mounted by, if it is not the default one
   */
  async find(ctx: object, key: string, database?: string): Promise<Model | undefined> {
    const databases = databasesOf(ctx)
    const property = this.#keyOf(databases.database(database))
    const value = keyFrom(property, key)
    if (value === undefined) return undefined
    const isIt = (entity: object) =>
      entity.constructor === this.#model && Reflect.get(entity, property.name) === value
    const known = databases.isInUse(database) ? undefined : databases.foundBefore(isIt, database)
    // It is of that very class.
    if (known) return known as Model
    this.#lookUp ??= new LookUp({ model: this.#model, property: property.name })
    return this.#lookUp.find(ctx, value, database)
  }

  #keyOf(orm: MikroORM): EntityProperty {
    const known = this.#keys.get(orm)
    if (known) return known
    const property = primaryKeyOf(orm.em, this.#model)
    this.#keys.set(orm, property)
    return property
  }
}
