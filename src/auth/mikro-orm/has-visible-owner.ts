import { type EntityProperty, Reference, Utils, wrap } from '@mikro-orm/core'

/**
 * Whether the owner exists and passes the filters of its class and of the relation. Queries the database only for a
 * polymorphic relation, because MikroORM joins it without filters. For other relations, `em.findOne` applies the filters.
 */
export async function hasVisibleOwner(token: object, relation: string): Promise<boolean> {
  const { __meta: meta, __em: em } = wrap(token, true)
  const property: EntityProperty = Reflect.get(meta.properties, relation)
  if (!property.polymorphTargets) return true
  const owner: object = Reference.unwrapReference(Reflect.get(token, relation))
  const { __meta: ownerMeta } = wrap(owner, true)
  const key = Utils.getPrimaryKeyCond(owner, ownerMeta.primaryKeys as never)
  if (!em || !key) return false
  const options = property.filters === undefined ? {} : { filters: property.filters }
  return (await em.count<object>(ownerMeta.class, key, options)) === 1
}
