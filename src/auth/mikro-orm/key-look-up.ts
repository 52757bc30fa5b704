import type { Class } from '../checks.ts'
import { databasesOf } from './databases.ts'
import { LookUp } from './look-up.ts'
import { keyFrom, primaryKeyOf } from './model.ts'

/** `LookUp` by primary key. */
export class KeyLookUp<Model extends object> {
  readonly #model: Class<Model>
  #lookUp: LookUp<Model> | undefined

  constructor(model: Class<Model>) {
    this.#model = model
  }

  /** Returns the entity, or `undefined` for an unknown or malformed key. Otherwise like `LookUp.find`. */
  async find(ctx: object, key: string, database?: string): Promise<Model | undefined> {
    const property = primaryKeyOf(databasesOf(ctx).orm(database).em, this.#model)
    const value = keyFrom(property, key)
    if (value === undefined) return undefined
    this.#lookUp ??= new LookUp({ model: this.#model, property: property.name })
    return this.#lookUp.find(ctx, value, database)
  }
}
