import { JWTKeys } from '#auth/jwt'
import { siteUses } from '../account/last-uses.ts'
import { createRouter } from '../app.ts'
import { openDatabase } from '../database/open-database.ts'
import { AuditTrail } from '../features/activity/audit-trail.ts'
import { createLog } from '../log/log.ts'
import { MailTemplates } from '../mail/mail-templates.ts'
import { Outbox } from '../mail/outbox.ts'
import { schema } from '../schema.ts'

export interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The path with the names of its parameters. */
  readonly template: string
}

/** Every route of the router, read from the router itself, so that the tests include new routes. */
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
  const orm = await openDatabase('sqlite::memory:', schema)
  const log = createLog('silent')
  const keys = new JWTKeys({ secrets: ['routes-'.repeat(8)], issuer: 'test', audience: 'test' })
  const outbox = new Outbox(orm, {
    deliver: async () => ({}),
    templates: new MailTemplates({ siteName: 'test', supportUrl: undefined, brandColor: undefined }),
    log,
  })
  const options = {
    keys,
    uses: siteUses(orm, log),
    isTls: false,
    trail: new AuditTrail(orm, log),
    outbox,
    providers: undefined,
  }
  const { stack } = createRouter(options)
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
