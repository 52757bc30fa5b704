import { statSync } from 'node:fs'
import { databaseName, isPostgresUrl } from '../database/database-url.ts'
import { host, proxies } from './addresses.ts'
import { brandColor, contact, label } from './branding.ts'
import { readDevelopmentSecret } from './development-keys.ts'
import { type Environment, oneOf, readPart, type Variables, wholeNumber } from './environment.ts'
import { type KeySources, readJwtKeys } from './jwt-keys.ts'
import { readMail } from './mail.ts'
import { readProviders } from './providers.ts'
import { readPort, readPublicUrl, readRpId } from './public-url.ts'
import { developmentSecretsKey, readSecretsKeys } from './secrets-keys.ts'
import { defaultName, readStorage } from './storage.ts'

/** The configuration of the server. `.env.example` explains every variable. */
export type Config = Readonly<ReturnType<typeof readConfig>>

type Settings = ReturnType<typeof readSettings>

/**
 * Reads the configuration. Except in production, creates missing secrets in `DATA_DIR`.
 * @throws {ConfigError} with all mistakes, one line for each
 */
export function readConfig(variables: Variables = process.env) {
  const settings = readPart(variables, readSettings)
  const { production, dataDir, publicUrl, secretsKeys } = settings
  // The first key signs, and all keys verify. For `new JWTKeys({ ...config.jwtKeys, issuer, audience })`.
  const jwtKeys: KeySources = settings.jwtKeys ?? { secrets: [readDevelopmentSecret(dataDir, 'jwt-secret')] }
  return {
    ...settings,
    secureCookies: publicUrl?.protocol === 'https:',
    jwtKeys,
    /**
     * The keys for secrets in the database. The first key encrypts, and all keys decrypt. Without keys, users cannot set up
     * authenticator apps or passkeys.
     */
    secretsKeys: secretsKeys ?? (production ? undefined : [developmentSecretsKey(dataDir)]),
    /** Warnings for the log about settings and file permissions that may be a mistake. */
    warnings: warnAbout(settings),
  }
}

function readSettings(environment: Environment) {
  const storage = readStorage(environment)
  const { production } = storage
  const jwtKeys = readJwtKeys(environment, production)
  const publicUrl = readPublicUrl(environment, production)
  const settings = {
    ...storage,
    host: environment.read('HOST', host, production ? '0.0.0.0' : '127.0.0.1'),
    port: readPort(environment),
    /** The origin that visitors use. Without it, a request uses its `Host` header, and a mail uses the address of the server. */
    publicUrl,
    /** The host that passkeys belong to. `undefined` without `publicUrl`, or if browsers do not support passkeys at that URL. */
    rpId: readRpId(environment, publicUrl),
    /** A sentence about the site. */
    siteTagline: environment.read('SITE_TAGLINE', label(200), undefined),
    /** Whether browsers may use only https for the host of the site and all its sub-domains, for the host only, or neither. */
    hsts: environment.read('HSTS', oneOf('sub-domains', 'host', 'off'), 'sub-domains'),
    brandColor: environment.read('BRAND_COLOR', brandColor, undefined),
    /** An `https:` or `mailto:` URL. */
    supportUrl: environment.read('SUPPORT_URL', contact, undefined),
    jwtKeys,
    secretsKeys: readSecretsKeys(environment),
    jwtIssuer: environment.read('JWT_ISSUER', label(200), defaultName),
    /** `undefined` if the site sends no mail. */
    mail: readMail(environment, storage),
    /** The identity providers that users can sign in with, in the order of their buttons. */
    providers: readProviders(environment, publicUrl),
    trustProxy: environment.read('TRUST_PROXY', proxies, 0),
    throttle: environment.read('THROTTLE', oneOf('on', 'off'), 'on') === 'on',
    drainSeconds: environment.read('DRAIN_SECONDS', wholeNumber(0, 600), production ? 5 : 0),
    workers: environment.read('WORKERS', wholeNumber(1, 64), 1),
    /** The port of the metrics. `undefined` without metrics. */
    metricsPort: environment.read('METRICS_PORT', wholeNumber(0, 65_535), undefined),
    logLevel: environment.read(
      'LOG_LEVEL',
      oneOf('silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'),
      'info',
    ),
  }
  if (production && !settings.throttle) environment.reject('THROTTLE', 'must be on in production')
  return settings
}

function warnAbout(settings: Settings): string[] {
  const { production, publicUrl, dataDir, databaseUrl, siteName, jwtIssuer } = settings
  const isHttps = publicUrl?.protocol === 'https:'
  const database = databaseName(databaseUrl)
  const isDefault = `is the default, ${defaultName}.`
  const warnings: Record<string, boolean> = {
    'PUBLIC_URL is not https. Passwords and cookies are sent unencrypted.': production && !isHttps,
    'PUBLIC_URL is https, but TRUST_PROXY is 0. All visitors share the address of the proxy.':
      isHttps && settings.trustProxy === 0,
    'SMTP_URL is not set. The site sends no mail. For a forgotten password, run: npm run user -- reset-link EMAIL':
      !settings.mail,
    'SECRETS_KEY is not set. Users cannot turn on authenticator apps and passkeys.':
      production && !settings.secretsKeys,
    [`SITE_NAME ${isDefault} Pages, mails and authenticator apps show it to users.`]:
      production && siteName === defaultName,
    [`JWT_ISSUER ${isDefault} Another site with the same keys would accept the tokens of this one.`]:
      production && jwtIssuer === defaultName,
    [`Other users of this machine can access DATA_DIR. Run: chmod 700 ${dataDir}`]: isOpenToOthers(dataDir),
    [`Other users of this machine can access the database. Run: chmod 600 ${database}*`]:
      !isPostgresUrl(databaseUrl) && isOpenToOthers(database),
  }
  return Object.keys(warnings).filter((warning) => warnings[warning])
}

function isOpenToOthers(path: string): boolean {
  // Windows has no permission bits for other users.
  if (process.platform === 'win32') return false
  try {
    return (statSync(path).mode & 0o066) !== 0
  } catch {
    // The start creates a missing file, and reports any other problem.
    return false
  }
}
