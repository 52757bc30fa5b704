import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A route, as the source declares it. */
export interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: string
}

const web = join(import.meta.dirname, '../web')
const declaration = /router\.(get|post)\(\s*'([^']+)'/g

/** Every route that the router is given, read from the source: a new one is in every matrix from its first day. */
export const routes: readonly Route[] = readdirSync(web, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .flatMap((name) => [...readFileSync(join(web, name), 'utf8').matchAll(declaration)])
  .map(([, method, path = '']) => ({
    method: method === 'get' ? 'GET' : 'POST',
    path: path.replace(':id', '00000000-0000-7000-8000-000000000000'),
  }))

/** What is answered before the router is asked. */
export const others: readonly Route[] = ['/healthz', '/readyz', '/style.css', '/app.js', '/favicon.svg'].map(
  (path) => ({ method: 'GET', path }),
)
