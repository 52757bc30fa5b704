import { Collection, helper, Reference, ScalarReference, Utils, wrap } from '@mikro-orm/core'

/** The result of a call, or its error as a value that can be compared. */
export function attempt(call: () => unknown): unknown {
  try {
    return call()
  } catch (error) {
    return { threw: String(error) }
  }
}

/** All that an application can see of a value: entities and references become plain objects that `deepEqual` compares. */
export function pictureOf(value: unknown, seen = new Map<unknown, string>()): unknown {
  if (value === null || typeof value !== 'object') return value
  // The database wrote it during the test.
  if (value instanceof Date && Math.abs(Date.now() - value.getTime()) < 60_000) return 'now'
  const known = seen.get(value)
  if (known) return known
  if (value instanceof ScalarReference)
    return { scalarReference: value.isInitialized(), value: value.unwrap() }
  if (value instanceof Reference)
    return { reference: value.isInitialized(), entity: pictureOf(value.unwrap(), seen) }
  if (value instanceof Collection) return pictureOfCollection(value, seen)
  return Utils.isEntity(value, true) ? pictureOfEntity(value, seen) : value
}

function pictureOfCollection(value: Collection<object>, seen: Map<unknown, string>) {
  const items = value.isInitialized() ? value.getItems().map((item) => pictureOf(item, seen)) : undefined
  return { collection: value.isInitialized(), isDirty: value.isDirty(), items }
}

function pictureOfEntity(entity: object, seen: Map<unknown, string>) {
  const { __meta: meta } = helper(entity)
  seen.set(entity, `${meta.className} ${seen.size}`)
  const names = new Set<string>([...meta.props.map(({ name }) => name), ...Object.keys(entity)])
  const values = [...names].map((name) => [name, attempt(() => pictureOf(Reflect.get(entity, name), seen))])
  return {
    prototype: Object.getPrototypeOf(entity),
    isInitialized: wrap(entity).isInitialized(),
    keys: Object.keys(entity).sort(),
    values: Object.fromEntries(values),
  }
}

/** The entity in each form that an answer may have. */
export function answersOf(entity: object): unknown {
  return {
    json: attempt(() => JSON.stringify(entity)),
    object: attempt(() => wrap(entity).toObject()),
    plain: attempt(() => wrap(entity).toPOJO()),
    serialized: attempt(() => JSON.stringify(wrap(entity).serialize())),
  }
}
