import type { MetadataStorage } from '@mikro-orm/core'

/**
 * Sets the collation of text columns, which the migrations created with `collate "C"`, for MikroORM's comparison of schemas. It compares
 * text byte by byte, as SQLite does.
 */
export function compareBytes(metadata: MetadataStorage): void {
  for (const { props } of metadata.getAll().values())
    for (const property of props)
      if (property.columnTypes?.some((type) => /^(varchar|text)\b/.test(type))) property.collation = 'C'
}
