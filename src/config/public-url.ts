import { origin } from './addresses.ts'
import { Environment, type Variables, wholeNumber } from './environment.ts'
import { readStorage } from './storage.ts'

export function readPort(environment: Environment): number {
  return environment.read('PORT', wholeNumber(0, 65_535), 3000)
}

/** Reads `PUBLIC_URL`, which production requires. */
export function readPublicUrl(environment: Environment, production: boolean): URL | undefined {
  if (production && environment.text('PUBLIC_URL') === undefined)
    environment.reject('PUBLIC_URL', `must be set in production to ${origin.expected}`)
  return environment.read('PUBLIC_URL', origin, undefined)
}

/** The URL of a development server. The log, pages and mails use the same host, because the session cookie belongs to one host. */
export function developmentUrl(url: string): string {
  return url.replace('//127.0.0.1', '//localhost')
}

/**
 * Reads the origin of the links that commands print. In development, the default is a server on this machine.
 * @throws {ConfigError} with all mistakes
 */
export function readLinkOrigin(variables: Variables = process.env): string {
  const environment = new Environment(variables)
  const { production } = readStorage(environment)
  const publicUrl = readPublicUrl(environment, production)
  const port = readPort(environment)
  environment.throwMistakes()
  return publicUrl?.origin ?? `http://localhost:${port}`
}
