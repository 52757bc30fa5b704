import { Misuse } from '../errors.ts'
import { databasesOf } from './databases.ts'
import { findOne } from './find-one.ts'
import type { Key, LookUpOptions } from './look-ups.ts'
import { canContain, metadataOf } from './model.ts'

/** Finds an entity by a column: with `em.findOne`, or as the option `lookUps` of `databases()` says. */
export class LookUp<Model extends object> {
  readonly #options: LookUpOptions<Model>

  constructor(options: LookUpOptions<Model>) {
    this.#options = options
  }

  /** Returns the entity, or `undefined`. `database` is a name in `databases()`. Rejects if the database cannot be queried. */
  async find(ctx: object, value: Key, database = 'default'): Promise<Model | undefined> {
    if (typeof value !== 'string' && typeof value !== 'number')
      throw new Misuse('Look up a string or a number, because MikroORM reads an object as a query.')
    const databases = databasesOf(ctx)
    const { em } = databases.orm(database)
    const { model, property } = this.#options
    if (!canContain(metadataOf(em, model), property, value)) return undefined
    const find = () => findOne(ctx, this.#options, value, database)
    const found = databases.lookUps?.find(this.#options, value, database, find) ?? find()
    return (await found) as Model | undefined
  }
}
