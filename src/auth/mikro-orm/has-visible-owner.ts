import { type EntityProperty, Reference, Utils, wrap } from '@mikro-orm/core'
import { databasesOf } from './databases.ts'

/**
 * Whether the owner of a token exists, and no filter hides it. The relation may turn filters on or off. `em.findOne` may
 * load a hidden owner. It ignores filters when it joins a polymorphic relation, and it joins some conditions incorrectly.
 */
export async function hasVisibleOwner(ctx: object, token: object, relation: string, database?: string) {
  const databases = databasesOf(ctx)
  const property: EntityProperty = Reflect.get(wrap(token, true).__meta.properties, relation)
  const { filters = {}, targetMeta, polymorphTargets = [targetMeta] } = property
  const owner: object = Reference.unwrapReference(Reflect.get(token, relation))
  const { __meta: meta, __schema: schema } = wrap(owner, true)
  const key = Utils.getPrimaryKeyCond(owner, meta.primaryKeys as never)
  if (!key) return false
  // The query must not flush changes of the request, and must not read a cached result.
  const { connectionType } = databases
  const options = { filters, schema, flushMode: 'commit', cache: false, connectionType } as never
  // With inheritance, a filter may belong to the owner's class or to the parent class in the relation.
  const types = new Set([meta, ...polymorphTargets].flatMap((each) => each?.class ?? []))
  const em = databases.manager(database)
  for (const type of types)
    if (owner instanceof type && (await em.count<object>(type, key, options)) !== 1) return false
  return true
}
