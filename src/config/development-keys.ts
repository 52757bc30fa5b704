import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../database/database-error.ts'
import { makeDirectory } from '../database/make-directory.ts'
import { ConfigError } from './environment.ts'

/**
 * Reads a secret for development: 32 random bytes in base64url, in a file that only its owner can read. Creates it at the first
 * start.
 * @throws {ConfigError} if the directory cannot be used or the secret is damaged
 */
export function readDevelopmentSecret(directory: string, name: 'jwt-secret' | 'secrets-key'): Buffer {
  const file = join(directory, name)
  try {
    if (!existsSync(file)) createSecret(directory, file)
    const secret = readFileSync(file)
    if (secret.length >= 32) return secret
  } catch (error) {
    throw new ConfigError(
      `DATA_DIR is not a writable directory (${errorCode(error)}). Change it, or its permissions.`,
    )
  }
  throw new ConfigError(
    `DATA_DIR contains a damaged secret. Delete ${file}. The next start creates it again.`,
  )
}

function createSecret(directory: string, file: string): void {
  makeDirectory(directory)
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  try {
    writeFileSync(draft, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' })
    // Atomic, because another process that starts now must not read half a secret.
    linkSync(draft, file)
  } catch (error) {
    // Another process has created it in the meantime.
    if (errorCode(error) !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
}
