import { DriverException } from '@mikro-orm/core'
import { databasesOf } from './databases.ts'
import type { Key, LookUpOptions } from './look-ups.ts'

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
