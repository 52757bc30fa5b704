import type { EntityClass, EntityManager } from '@mikro-orm/core'

const pageSize = 1_000

interface Selection {
  readonly where?: object
  readonly orderBy: Readonly<Record<string, 'asc'>>
  /** The lazy properties to load. Those of `orderBy` are necessary. */
  readonly populate?: readonly string[]
}

/** Yields rows page by page, so that a large table fits into memory and no statement takes long. */
export async function* pages<Entity extends object>(
  em: EntityManager,
  entity: EntityClass<Entity>,
  { where = {}, orderBy, populate = [] }: Selection,
): AsyncGenerator<Entity[]> {
  const all = { first: pageSize, includeCount: false, filters: false, disableIdentityMap: true } as const
  // MikroORM's types cannot express the properties of a generic entity.
  const options = { ...all, where, orderBy, populate: populate as never }
  let page = await em.findByCursor<object, never, never, never, false>(entity, options)
  yield page.items as Entity[]
  while (page.hasNextPage) {
    page = await em.findByCursor<object, never, never, never, false>(entity, { ...options, after: page })
    yield page.items as Entity[]
  }
}
