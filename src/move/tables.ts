import type { EntityMetadata, MikroORM } from '@mikro-orm/core'

/** The tables of the site by their entities, each behind those that its foreign keys are about. */
export function tablesOf(orm: MikroORM): EntityMetadata[] {
  const entities = new Map([...orm.getMetadata().getAll().values()].map((each) => [each.tableName, each]))
  const ordered = new Set<string>()
  const add = ({ tableName, relations }: EntityMetadata) => {
    if (ordered.has(tableName)) return
    // What a relation knows of the other entity is that of the class which ours extends.
    for (const { targetMeta } of relations) if (targetMeta) add(targetMeta)
    ordered.add(tableName)
  }
  for (const entity of entities.values()) add(entity)
  return [...ordered].flatMap((name) => entities.get(name) ?? [])
}
