import { Collection, helper, Reference, ScalarReference, Utils, wrap } from '@mikro-orm/core'

/** The result of a call, or its error as a comparable value. */
export function attempt(call: () => unknown): unknown {
  try {
    return call()
  } catch (error) {
    return { threw: String(error) }
  }
}

/** The observable state of a value as plain objects, for `deepEqual`. */
export function stateOf(value: unknown, seen = new Map<unknown, string>()): unknown {
  if (value === null || typeof value !== 'object') return value
  // A time that the database generated during the test.
  if (value instanceof Date && Math.abs(Date.now() - value.getTime()) < 60_000) return 'now'
  const known = seen.get(value)
  if (known) return known
  if (value instanceof ScalarReference)
    return { scalarReference: value.isInitialized(), value: value.unwrap() }
  if (value instanceof Reference)
    return { reference: value.isInitialized(), entity: stateOf(value.unwrap(), seen) }
  if (value instanceof Collection) return stateOfCollection(value, seen)
  return Utils.isEntity(value, true) ? stateOfEntity(value, seen) : value
}

function stateOfCollection(value: Collection<object>, seen: Map<unknown, string>) {
  const items = value.isInitialized() ? value.getItems().map((item) => stateOf(item, seen)) : undefined
  return { collection: value.isInitialized(), isDirty: value.isDirty(), items }
}

function stateOfEntity(entity: object, seen: Map<unknown, string>) {
  const { __meta: meta } = helper(entity)
  seen.set(entity, `${meta.className} ${seen.size}`)
  const names = new Set<string>([...meta.props.map(({ name }) => name), ...Object.keys(entity)])
  const values = [...names].map((name) => [name, attempt(() => stateOf(Reflect.get(entity, name), seen))])
  return {
    prototype: Object.getPrototypeOf(entity),
    isInitialized: wrap(entity).isInitialized(),
    keys: Object.keys(entity).sort(),
    values: Object.fromEntries(values),
  }
}

/** The entity in every serialisation of MikroORM. */
export function serialisationsOf(entity: object): unknown {
  return {
    json: attempt(() => JSON.stringify(entity)),
    object: attempt(() => wrap(entity).toObject()),
    plain: attempt(() => wrap(entity).toPOJO()),
    serialized: attempt(() => JSON.stringify(wrap(entity).serialize())),
  }
}
