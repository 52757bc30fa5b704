import { DriverException, type EntityMetadata, type EntityProperty, UuidType } from '@mikro-orm/core'
import { Misuse } from '../errors.ts'
import { isUUID } from '../uuid.ts'
import { databasesOf, metadataOf } from './databases.ts'
import type { Key, LookUpOptions } from './look-ups.ts'

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

/** Whether a column can contain the value. For another value, PostgreSQL would respond with an error instead of no row. */
function canContain({ properties }: EntityMetadata, name: string, value: string | number): boolean {
  const property = (properties as Readonly<Record<string, EntityProperty>>)[name]
  if (property?.customType instanceof UuidType) return isUUID(value)
  return typeof value === 'number' || !value.includes('\0')
}

/** Finds an entity with the entity manager of the request. */
export async function findOne(
  ctx: object,
  { model, property, relation }: LookUpOptions,
  value: Key,
  database?: string,
): Promise<object | undefined> {
  const databases = databasesOf(ctx)
  // With `$and`, MikroORM queries the database even for the primary key of an entity that it manages.
  const where = { $and: [{ [property]: value }] }
  const populate = relation === undefined ? [] : [relation]
  const options = { populate, cache: false, connectionType: databases.connectionType } as never
  try {
    return (await databases.manager(database).findOne<object>(model, where, options)) ?? undefined
  } catch (error) {
    // PostgreSQL rejects a value that the column cannot contain, such as a number out of range (SQLSTATE class 22).
    if (error instanceof DriverException && /^22/.test(String(error.code))) return undefined
    throw error
  }
}
