import type { EntityMetadata, EntityProperty, MikroORM } from '@mikro-orm/core'
import { NotPrepared } from './not-prepared.ts'
import type { Row } from './prepared-statement.ts'
import { driverOf, type QueryBuilder } from './query-builder.ts'

type Data = Record<string, unknown>

/**
 * Creates a function that maps rows as MikroORM does. Throws `NotPrepared` if a column or property has the same name as the
 * alias of a joined column.
 */
export function rowMapper(
  orm: MikroORM,
  qb: QueryBuilder,
  meta: EntityMetadata,
  relation: EntityProperty | undefined,
): (row: Row) => Data {
  const driver = driverOf(orm)
  const target = relation?.targetMeta
  if (!target) return (row) => driver.mapResult({ ...row }, meta)
  const path = `[populate]${meta.name}.${relation.name}`
  const alias = qb.getAliasForJoinPath(path, { matchPopulateJoins: true })
  const platform = orm.em.getPlatform()
  const timezone = platform.getTimezone()
  const columnOf = ({ fieldNames: [name] }: EntityProperty) => `${alias}__${name}`
  const saved = target.props.filter((property) => platform.shouldHaveColumn(property, []))
  const unsaved = target.props.filter(({ persist, fieldNames }) => persist === false && fieldNames)
  const joined = new Set(saved.concat(unsaved).map(columnOf))
  if (meta.props.some(({ name, fieldNames = [] }) => [name, ...fieldNames].some((each) => joined.has(each))))
    throw new NotPrepared(`a column of ${meta.className} is named like a column of the joined table`)
  const key = columnOf(target.getPrimaryProp())
  return (row) => {
    const ownRow: Data = {}
    for (const column in row) if (!joined.has(column)) ownRow[column] = row[column]
    const data = driver.mapResult(ownRow, meta)
    const related: Data = {}
    data[relation.name] = row[key] == null ? null : related
    for (const property of unsaved) related[property.name] = row[columnOf(property)]
    for (const property of saved) driver.mapJoinedProp(related, property, alias, row, timezone, target)
    return data
  }
}
