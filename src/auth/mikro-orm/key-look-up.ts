import type { EntityProperty, MikroORM } from '@mikro-orm/core'
import type { Class } from '../class.ts'
import { databasesOf } from './databases.ts'
import { LookUp } from './look-up.ts'
import { keyFrom, primaryKeyOf } from './model.ts'

/** Finds an entity by its primary key as `LookUp` does. An entity that this request has loaded needs no second query. */
export class KeyLookUp<Model extends object> {
  readonly #model: Class<Model>
  readonly #keys = new WeakMap<MikroORM, EntityProperty>()
  #lookUp: LookUp<Model> | undefined

  constructor(model: Class<Model>) {
    this.#model = model
  }

  /**
   * The entity, or `undefined`, also for a key that cannot be one of the model's, such as a UUID with a typing error. Rejects if
   * the database cannot be queried.
   *
   * @param database the name under which `databases()` mounted it, if not the default one
   */
  async find(ctx: object, key: string, database?: string): Promise<Model | undefined> {
    const databases = databasesOf(ctx)
    const property = this.#keyOf(databases.orm(database))
    const value = keyFrom(property, key)
    if (value === undefined) return undefined
    const hasKey = (entity: object) =>
      entity.constructor === this.#model && Reflect.get(entity, property.name) === value
    const loaded = databases.hasManager(database) ? undefined : databases.findLoaded(hasKey, database)
    if (loaded) return loaded as Model
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
