import { host, proxies, type TrustProxy } from './addresses.ts'
import { type BrandColor, brandColor, contact, label } from './branding.ts'
import { readDevelopmentSecret } from './development-keys.ts'
import { Environment, oneOf, type Variables, wholeNumber } from './environment.ts'
import { type KeySources, readJwtKeys } from './jwt-keys.ts'
import { type MailConfig, readMail } from './mail.ts'
import { type ProviderConfig, readProviders } from './providers.ts'
import { readPort, readPublicUrl, readRpId } from './public-url.ts'
import { developmentSecretsKey, readSecretsKeys, type SecretsKey } from './secrets-keys.ts'
import { readStorage, type StorageConfig } from './storage.ts'
import { defaultName, warnAbout } from './warnings.ts'

/** Whether browsers may use only https for the host of the site and all its sub-domains, for the host only, or neither. */
export type Hsts = 'sub-domains' | 'host' | 'off'

/** The configuration of the server. `.env.example` explains every variable. */
export interface Config extends StorageConfig {
  readonly host: string
  readonly port: number
  /** The origin that visitors use. Without it, a request uses its `Host` header, and a mail uses the address of the server. */
  readonly publicUrl: URL | undefined
  /** The host that passkeys belong to. `undefined` without `publicUrl`, or if browsers do not support passkeys at that URL. */
  readonly rpId: string | undefined
  readonly secureCookies: boolean
  readonly hsts: Hsts
  /** The first key signs, and all keys verify. For `new JWTKeys({ ...config.jwtKeys, issuer, audience })`. */
  readonly jwtKeys: KeySources
  /**
   * The keys for secrets in the database. The first key encrypts, and all keys decrypt. Without keys, users cannot set up
   * authenticator apps or passkeys.
   */
  readonly secretsKeys: readonly SecretsKey[] | undefined
  readonly jwtIssuer: string
  /** A sentence about the site. */
  readonly siteTagline: string | undefined
  readonly brandColor: BrandColor | undefined
  /** An `https:` or `mailto:` URL. */
  readonly supportUrl: string | undefined
  /** `undefined` if the site sends no mail. */
  readonly mail: MailConfig | undefined
  /** The identity providers that users can sign in with, in the order of their buttons. */
  readonly providers: readonly ProviderConfig[]
  readonly trustProxy: TrustProxy
  readonly throttle: boolean
  readonly drainSeconds: number
  readonly workers: number
  /** The port of the metrics. `undefined` without metrics. */
  readonly metricsPort: number | undefined
  readonly logLevel: (typeof logLevels)[number]
  /** Warnings for the log about settings and file permissions that may be a mistake. */
  readonly warnings: readonly string[]
}

const logLevels = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const

/**
 * Reads the configuration. Except in production, creates missing secrets in `DATA_DIR`.
 * @throws {ConfigError} with all mistakes, one line for each
 */
export function readConfig(variables: Variables = process.env): Config {
  const environment = new Environment(variables)
  const storage = readStorage(environment)
  const { production, dataDir } = storage

  const jwtKeys = readJwtKeys(environment, production)
  const publicUrl = readPublicUrl(environment, production)
  const settings = {
    ...storage,
    host: environment.read('HOST', host, production ? '0.0.0.0' : '127.0.0.1'),
    port: readPort(environment),
    publicUrl,
    rpId: readRpId(environment, publicUrl),
    siteTagline: environment.read('SITE_TAGLINE', label(200), undefined),
    hsts: environment.read('HSTS', oneOf('sub-domains', 'host', 'off'), 'sub-domains'),
    brandColor: environment.read('BRAND_COLOR', brandColor, undefined),
    supportUrl: environment.read('SUPPORT_URL', contact, undefined),
    secretsKeys: readSecretsKeys(environment),
    jwtIssuer: environment.read('JWT_ISSUER', label(200), defaultName),
    mail: readMail(environment, storage),
    providers: readProviders(environment, publicUrl),
    trustProxy: environment.read('TRUST_PROXY', proxies, 0),
    throttle: environment.read('THROTTLE', oneOf('on', 'off'), 'on') === 'on',
    drainSeconds: environment.read('DRAIN_SECONDS', wholeNumber(0, 600), production ? 5 : 0),
    workers: environment.read('WORKERS', wholeNumber(1, 64), 1),
    metricsPort: environment.read('METRICS_PORT', wholeNumber(0, 65_535), undefined),
    logLevel: environment.read('LOG_LEVEL', oneOf(...logLevels), 'info'),
  }
  if (settings.workers > 1 && storage.databaseUrl === 'sqlite::memory:') {
    environment.reject('WORKERS', 'must be 1, because processes cannot share a database in memory')
  }
  if (production && !settings.throttle) environment.reject('THROTTLE', 'must be on in production')
  environment.throwMistakes()

  return {
    ...settings,
    secureCookies: settings.publicUrl?.protocol === 'https:',
    jwtKeys: jwtKeys ?? { secrets: [readDevelopmentSecret(dataDir, 'jwt-secret')] },
    secretsKeys: settings.secretsKeys ?? (production ? undefined : [developmentSecretsKey(dataDir)]),
    warnings: warnAbout(settings),
  }
}
