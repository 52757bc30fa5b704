import type { MetadataStorage } from '@mikro-orm/core'

/** On PostgreSQL, `columnTypes` makes text columns compare byte by byte, as SQLite does. Sets this collation for the entities too. */
export function compareBytes(metadata: MetadataStorage): void {
  for (const { props } of metadata.getAll().values())
    for (const property of props)
      if (property.columnTypes?.some((type) => /^(varchar|text)\b/.test(type))) property.collation = 'C'
}
