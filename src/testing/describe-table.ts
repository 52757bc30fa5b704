import { type AbstractSqlDriver, DatabaseSchema } from '@mikro-orm/sqlite'
import type { Site } from './site.ts'

interface TableDescription {
  readonly columns: readonly string[]
  readonly required: readonly string[]
  readonly primaryKey: readonly string[]
  /** As `column → table (column) on delete …`. */
  readonly foreignKeys: readonly string[]
}

export async function describeTable({ orm }: Pick<Site, 'orm'>, name: string): Promise<TableDescription> {
  const driver = orm.driver as AbstractSqlDriver
  const schema = await DatabaseSchema.create(driver.getConnection(), driver.getPlatform(), orm.config)
  const table = schema.getTable(name)
  const columns = table?.getColumns() ?? []
  const keys = Object.values(table?.getForeignKeys() ?? {})
  return {
    columns: columns.map((column) => column.name),
    required: columns.filter(({ nullable }) => !nullable).map((column) => column.name),
    primaryKey: table?.getPrimaryKey()?.columnNames ?? [],
    foreignKeys: keys.map(
      ({ columnNames, referencedTableName, referencedColumnNames, deleteRule }) =>
        `${columnNames} → ${referencedTableName.replace(/^public\./, '')} (${referencedColumnNames}) on delete ${deleteRule}`,
    ),
  }
}
