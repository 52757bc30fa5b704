import { statSync } from 'node:fs'
import { databaseName, isPostgresUrl } from '../database/database-url.ts'
import type { TrustProxy } from './addresses.ts'
import type { StorageConfig } from './storage.ts'

/** Returns warnings about valid settings that may be a mistake. */
export function warnAbout(
  settings: StorageConfig & { publicUrl: URL | undefined; trustProxy: TrustProxy },
): string[] {
  const { production, publicUrl, trustProxy, dataDir, databaseUrl } = settings
  const isHttps = publicUrl?.protocol === 'https:'
  const database = databaseName(databaseUrl)
  const warnings: string[] = []
  if (production && !isHttps)
    warnings.push('PUBLIC_URL is not https: passwords and cookies are sent unencrypted.')
  if (isHttps && trustProxy === 0)
    warnings.push(
      'PUBLIC_URL is https but TRUST_PROXY is not set: all visitors share the address of the proxy.',
    )
  if (isOpenToOthers(dataDir)) warnings.push(`DATA_DIR can be read by other users: chmod 700 ${dataDir}`)
  if (!isPostgresUrl(databaseUrl) && isOpenToOthers(database))
    warnings.push(`The database can be read by other users: chmod 600 ${database}*`)
  return warnings
}

function isOpenToOthers(path: string): boolean {
  // Windows has no such permission bits.
  if (process.platform === 'win32') return false
  try {
    return (statSync(path).mode & 0o066) !== 0
  } catch {
    // It will be created, or opening it reports the problem.
    return false
  }
}
