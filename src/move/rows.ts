import { setImmediate as turn } from 'node:timers/promises'
import { type EntityManager, type EntityMetadata, helper, ReferenceKind } from '@mikro-orm/core'

/** How many rows are in memory, and in a statement, at a time. */
export const batch = 500

/** A row as the application sees it, the same whichever database it is in. */
export interface Row {
  /** Its primary key: text, in the order of the columns. */
  readonly key: readonly string[]
  /** By the names of the properties. What belongs to another row has that one's key. */
  readonly data: Readonly<Record<string, unknown>>
  /** All of it, for a comparison. */
  readonly text: string
}

/** All rows of a table in the order of their keys, which is the same in every database: they are ASCII, compared by bytes. */
export async function* rowsOf(em: EntityManager, table: EntityMetadata): AsyncGenerator<Row> {
  const names: readonly string[] = table.primaryKeys
  const orderBy = Object.fromEntries(names.map((name) => [name, 'asc' as const]))
  for (let last: Row | undefined; ; ) {
    const where = last ? behind(names, last.key) : {}
    // MikroORM's types follow neither a condition nor an order of any entity.
    const found: object[] = await em.find<object>(table.class, where, {
      orderBy: orderBy as never,
      limit: batch,
      filters: false,
    })
    em.clear()
    // SQLite's driver is synchronous, and gives back the memory of its statements between two turns only.
    await turn()
    for (const entity of found) {
      last = rowOf(entity, table)
      yield last
    }
    if (found.length < batch) return
  }
}

/** The condition for the rows with these keys. */
export function withKeys(table: EntityMetadata, rows: readonly Row[]): object {
  const names: readonly string[] = table.primaryKeys
  const [name = '', ...others] = names
  if (others.length === 0) return { [name]: { $in: rows.map(({ key: [value] }) => value) } }
  return { $or: rows.map(({ key }) => Object.fromEntries(names.map((each, i) => [each, key[i]]))) }
}

function rowOf(entity: object, table: EntityMetadata): Row {
  const data = Object.fromEntries(
    table.comparableProps.map(({ name, kind }) => {
      const value: unknown = Reflect.get(entity, name)
      return [name, kind === ReferenceKind.SCALAR ? value : keyOf(value)]
    }),
  )
  return {
    key: table.primaryKeys.map((name) => String(data[name])),
    data,
    text: JSON.stringify(data, sorted),
  }
}

function keyOf(reference: unknown): unknown {
  // What is no scalar is an entity or nothing: the site has no collections.
  return reference ? helper(reference as object).getPrimaryKey() : reference
}

// PostgreSQL keeps the properties of JSON in an order of its own.
function sorted(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}

// The first column stands alone too, so that an index leads there at once.
function behind(names: readonly string[], key: readonly string[]): object {
  const [name = '', ...others] = names
  if (others.length === 0) return { [name]: { $gt: key[0] } }
  const later = names.map((each, i) => ({
    ...Object.fromEntries(names.slice(0, i).map((same, j) => [same, key[j]])),
    [each]: { $gt: key[i] },
  }))
  return { $and: [{ [name]: { $gte: key[0] } }, { $or: later }] }
}
