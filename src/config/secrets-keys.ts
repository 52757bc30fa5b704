import { hash } from 'node:crypto'
import { readDevelopmentSecret } from './development-keys.ts'
import type { Environment } from './environment.ts'

/** A key that encrypts secrets in the database. */
export interface SecretsKey {
  /** The prefix of each secret that is encrypted with this key. */
  readonly id: string
  /** 32 bytes. */
  readonly bytes: Uint8Array
}

/** Reads `SECRETS_KEY`. Returns `undefined` if it is missing or invalid. */
export function readSecretsKeys(environment: Environment): readonly SecretsKey[] | undefined {
  const entries = environment.list('SECRETS_KEY')
  if (entries.length === 0) return undefined
  const keys = entries.flatMap((entry) => parse(entry) ?? [])
  const ids = new Set(keys.map(({ id }) => id))
  if (ids.size === entries.length) return keys
  environment.reject(
    'SECRETS_KEY',
    'must be NAME:KEY entries with different names, separated by commas. The first key encrypts. Create an entry with `echo "key1:$(openssl rand -base64 32)"`',
  )
  return undefined
}

/** Reads the development key from `DATA_DIR`. Creates it at the first start. */
export function developmentSecretsKey(dataDir: string): SecretsKey {
  return { id: 'development', bytes: hash('sha256', readDevelopmentSecret(dataDir, 'secrets-key'), 'buffer') }
}

function parse(entry: string): SecretsKey | undefined {
  const [, id = '', encoded = ''] = /^([\w-]{1,20}):([A-Za-z0-9+/_-]{43}=?)$/.exec(entry) ?? []
  const bytes = Buffer.from(encoded, 'base64')
  // Rejects placeholders such as `AAAA…`: 32 random bytes almost certainly have at least 8 different values.
  return bytes.length === 32 && new Set(bytes).size >= 8 ? { id, bytes } : undefined
}
