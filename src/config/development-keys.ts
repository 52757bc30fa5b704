import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from './environment.ts'
import type { KeySources } from './jwt-keys.ts'
import { makeDirectory } from './make-directory.ts'

/**
 * The secret of a developer's machine: made at the first start, kept in `directory`, readable by the owner alone.
 * @throws {ConfigError} if the directory cannot be used or what it keeps is damaged
 */
export function readDevelopmentKeys(directory: string): KeySources {
  const file = join(directory, 'jwt-secret')
  const secret = keepSecret(directory, file)
  if (secret.length >= 32) return { secrets: [secret] }

  throw new ConfigError([
    `DATA_DIR holds a damaged secret: delete ${file}, and the next start makes a new one.`,
  ])
}

function keepSecret(directory: string, file: string): Buffer {
  try {
    return readIfThere(file) ?? makeSecret(directory, file)
  } catch (error) {
    throw new ConfigError([`DATA_DIR must be a directory that can be read and written (${codeOf(error)}).`])
  }
}

function makeSecret(directory: string, file: string): Buffer {
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  makeDirectory(directory)
  try {
    writeFileSync(draft, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' })
    // A link appears whole or not at all: of two processes that start together, one makes it and both read it.
    linkSync(draft, file)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  return readFileSync(file)
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : error
}
