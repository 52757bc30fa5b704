import { tmpdir } from 'node:os'
import { MikroORM } from '@mikro-orm/core'
import { createServices } from '../account/services.ts'
import { createRouter } from '../app.ts'
import { readConfig } from '../config/config.ts'
import { databaseOptions } from '../database/database-options.ts'
import { loadDialect } from '../database/open-database.ts'
import { siteProviders } from '../features/providers/site-providers.ts'
import { createLog } from '../log/log.ts'
import { mails } from '../mails.ts'
import { schema } from '../schema.ts'
import { companyClient } from './provider-site.ts'

export interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The path with the names of its parameters. */
  readonly template: string
}

/** Every route of the router of a site with the provider `company`, read from the router itself, so that the tests include new routes. */
export const routes: readonly Route[] = await readRoutes()

/** The paths that a middleware handles before the router, with the default configuration. */
export const others: readonly Route[] = [
  ...[
    '/healthz',
    '/readyz',
    '/style.css',
    '/account.css',
    '/demo.css',
    '/app.js',
    '/passkeys.js',
    '/favicon.svg',
    '/apple-touch-icon.png',
    '/picture.png',
    '/manifest.webmanifest',
  ],
].map((path) => ({ method: 'GET', path, template: path }))

async function readRoutes(): Promise<Route[]> {
  // Is never opened.
  const { options } = await loadDialect('sqlite:unused')
  const orm = await MikroORM.init(databaseOptions(options, schema))
  const variables = companyClient('http://localhost')
  const config = readConfig({
    NODE_ENV: 'test',
    DATA_DIR: tmpdir(),
    PUBLIC_URL: 'http://localhost',
    ...variables,
  })
  const services = createServices(orm, config, createLog('silent'), mails)
  const { stack } = createRouter(services, siteProviders(config))
  await orm.close()
  return stack.map(({ methods, path }) => ({
    method: methods.includes('POST') ? 'POST' : 'GET',
    template: String(path),
    path: String(path)
      .replace(':id', '00000000-0000-7000-8000-000000000000')
      .replace(':code', 'not_found')
      .replace(':provider', 'company'),
  }))
}
