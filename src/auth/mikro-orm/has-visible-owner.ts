import { type EntityProperty, Reference, Utils, wrap } from '@mikro-orm/core'
import { databasesOf, entityManager } from './databases.ts'

/**
 * Whether the owner exists and passes the filters of its class and of the relation. `em.findOne` may load a token with a
 * hidden owner, because MikroORM joins a polymorphic relation without filters, and some conditions incorrectly.
 */
export async function hasVisibleOwner(ctx: object, token: object, relation: string, database?: string) {
  // A prepared look-up uses no manager. Its allow-list accepts only relations and filters that MikroORM joins correctly.
  if (!databasesOf(ctx).hasManager(database)) return true
  const { filters = {} }: EntityProperty = Reflect.get(wrap(token, true).__meta.properties, relation)
  const owner: object = Reference.unwrapReference(Reflect.get(token, relation))
  const { __meta: meta, __schema: schema } = wrap(owner, true)
  const key = Utils.getPrimaryKeyCond(owner, meta.primaryKeys as never)
  if (!key) return false
  const options = { filters, ...(schema === undefined ? {} : { schema }) }
  return (await entityManager(ctx, database).count<object>(meta.class, key, options)) === 1
}
