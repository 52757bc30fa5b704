import { host, origin, proxies, type TrustProxy } from './addresses.ts'
import { readDevelopmentKeys } from './development-keys.ts'
import { Environment, oneOf, type Variables, wholeNumber } from './environment.ts'
import { type KeySources, readJwtKeys } from './jwt-keys.ts'
import { warnOfReaders } from './readable-by-others.ts'
import { readStorage, type StorageConfig } from './storage.ts'

export type { TrustProxy } from './addresses.ts'
export { ConfigError } from './environment.ts'
export { readStorageConfig, type StorageConfig } from './storage.ts'

/** What the environment says, ready to use. Every variable is explained in `.env.example`. */
export interface Config extends StorageConfig {
  readonly host: string
  readonly port: number
  /** The origin that visitors use. Without one, the host of each request is taken for ours. */
  readonly publicUrl: URL | undefined
  readonly secureCookies: boolean
  /** Newest first: the first signs, all verify. For `new JWTKeys({ ...config.jwtKeys, issuer, audience })`. */
  readonly jwtKeys: KeySources
  readonly trustProxy: TrustProxy
  readonly throttle: boolean
  readonly drainSeconds: number
  /** How many processes serve. */
  readonly workers: number
  readonly logLevel: (typeof logLevels)[number]
  /** Sentences for the log of the start: allowed, but perhaps not what was meant. */
  readonly warnings: readonly string[]
}

const logLevels = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const

/**
 * Reads the whole configuration, frozen. In development a missing secret is made and kept in `DATA_DIR`.
 * @throws {ConfigError} with every mistake at once: a line each, naming the variable and what it takes
 */
export function readConfig(variables: Variables = process.env): Config {
  const environment = new Environment(variables)
  const storage = readStorage(environment)
  const { production, dataDir } = storage

  const settings = {
    ...storage,
    host: environment.read('HOST', host, production ? '0.0.0.0' : '127.0.0.1'),
    port: environment.read('PORT', wholeNumber(0, 65_535), 3000),
    publicUrl: environment.read('PUBLIC_URL', origin, undefined),
    trustProxy: environment.read('TRUST_PROXY', proxies, 0),
    throttle: environment.read('THROTTLE', oneOf('on', 'off'), 'on') === 'on',
    drainSeconds: environment.read('DRAIN_SECONDS', wholeNumber(0, 600), production ? 5 : 0),
    workers: environment.read('WORKERS', wholeNumber(1, 64), 1),
    logLevel: environment.read('LOG_LEVEL', oneOf(...logLevels), 'info'),
  }
  const jwtKeys = readJwtKeys(environment, production)
  if (settings.workers > 1 && storage.databaseUrl === 'sqlite::memory:') {
    environment.mistake('WORKERS', 'must be 1 while the database is in memory, where each would have its own')
  }
  if (production) refuseUnsafe(environment, settings.throttle)
  environment.throwMistakes()

  return Object.freeze({
    ...settings,
    secureCookies: settings.publicUrl?.protocol === 'https:',
    jwtKeys: Object.freeze(jwtKeys ?? readDevelopmentKeys(dataDir)),
    warnings: Object.freeze([...warnAbout(settings), ...warnOfReaders(settings)]),
  })
}

function refuseUnsafe(environment: Environment, throttle: boolean): void {
  if (environment.text('PUBLIC_URL') === undefined) {
    environment.mistake('PUBLIC_URL', `must be set in production: ${origin.takes}`)
  }
  if (!throttle) environment.mistake('THROTTLE', 'must be on in production')
}

function warnAbout(settings: Pick<Config, 'production' | 'publicUrl' | 'trustProxy'>): string[] {
  const isHttps = settings.publicUrl?.protocol === 'https:'
  const warnings: string[] = []
  if (settings.production && !isHttps) {
    warnings.push('PUBLIC_URL is not https: passwords and cookies can be read on their way.')
  }
  if (isHttps && settings.trustProxy === 0) {
    warnings.push(
      'PUBLIC_URL is https but TRUST_PROXY is not set: all visitors share the address of the proxy.',
    )
  }
  return warnings
}
