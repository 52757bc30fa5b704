import { statSync } from 'node:fs'
import { databaseName, isPostgresUrl } from '../database/database-url.ts'
import type { TrustProxy } from './addresses.ts'
import type { BrandColor } from './branding.ts'
import type { MailConfig } from './mail.ts'
import type { StorageConfig } from './storage.ts'

interface CheckedSettings extends StorageConfig {
  readonly publicUrl: URL | undefined
  readonly jwtIssuer: string
  readonly trustProxy: TrustProxy
  readonly brandColor: BrandColor | undefined
  readonly mail: MailConfig | undefined
  readonly secretsKeys: readonly object[] | undefined
}

/** The default of `SITE_NAME` and `JWT_ISSUER`. */
export const defaultName = 'koa-authenticators'

/** Returns warnings about settings and file permissions that may be a mistake. */
export function warnAbout(settings: CheckedSettings): string[] {
  const {
    siteName,
    jwtIssuer,
    production,
    publicUrl,
    trustProxy,
    brandColor,
    mail,
    secretsKeys,
    dataDir,
    databaseUrl,
  } = settings
  const isHttps = publicUrl?.protocol === 'https:'
  const database = databaseName(databaseUrl)
  const warnings: string[] = []
  if (production && !isHttps)
    warnings.push('PUBLIC_URL is not https. Passwords and cookies are sent unencrypted.')
  if (isHttps && trustProxy === 0)
    warnings.push('PUBLIC_URL is https, but TRUST_PROXY is 0. All visitors share the address of the proxy.')
  if (brandColor && brandColor.light !== brandColor.given)
    warnings.push(`BRAND_COLOR is too light for text. Light pages use ${brandColor.light} instead.`)
  if (!mail)
    warnings.push(
      'SMTP_URL is not set. The site sends no mail. For a forgotten password, run: npm run user -- reset-link EMAIL',
    )
  if (production && !secretsKeys)
    warnings.push('SECRETS_KEY is not set. Users cannot turn on authenticator apps and passkeys.')
  for (const [name, value, effect] of [
    ['SITE_NAME', siteName, 'Pages, mails and authenticator apps show it to users'],
    ['JWT_ISSUER', jwtIssuer, 'Another site with the same keys would accept the tokens of this one'],
  ] as const)
    if (production && value === defaultName) warnings.push(`${name} is the default, ${value}. ${effect}.`)
  if (isOpenToOthers(dataDir))
    warnings.push(`Other users of this machine can access DATA_DIR. Run: chmod 700 ${dataDir}`)
  if (!isPostgresUrl(databaseUrl) && isOpenToOthers(database))
    warnings.push(`Other users of this machine can access the database. Run: chmod 600 ${database}*`)
  return warnings
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
