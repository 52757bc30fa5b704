import { type EntityProperty, Reference, Utils, wrap } from '@mikro-orm/core'

/**
 * Whether the owner in a polymorphic relation exists, and the filters of its class and of the relation show it. MikroORM does
 * not apply them when it joins such a relation. For any other relation `em.findOne` has applied them.
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
