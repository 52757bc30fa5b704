import { statSync } from 'node:fs'
import { databaseName, isPostgresUrl } from '../database/database-url.ts'
import type { StorageConfig } from './storage.ts'

/** Sentences about what is there already and is not for its owner alone. What the server makes itself is. */
export function warnOfReaders({
  dataDir,
  databaseUrl,
}: Pick<StorageConfig, 'dataDir' | 'databaseUrl'>): string[] {
  // Windows has other rights than these.
  if (process.platform === 'win32') return []
  const database = isPostgresUrl(databaseUrl) ? undefined : databaseName(databaseUrl)
  return [
    ...(isOpenToOthers(dataDir) ? [`DATA_DIR can be read by other users: chmod 700 ${dataDir}`] : []),
    ...(database !== undefined && isOpenToOthers(database)
      ? [`The database can be read by other users: chmod 600 ${database}*`]
      : []),
  ]
}

function isOpenToOthers(path: string): boolean {
  try {
    return (statSync(path).mode & 0o066) !== 0
  } catch {
    // It will be made, or opening it says what is wrong.
    return false
  }
}
