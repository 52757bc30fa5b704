import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { betterAuthRows } from './better-auth-data.ts'
import { cookieSecret, defaultAmounts, session, token } from './data.ts'
import { type Rows, sqliteRows } from './database.ts'
import type { Keys } from './keys.ts'
import { type Program, type RunningServer, site, start } from './server-process.ts'

export interface Server extends Program {
  readonly name: string
  /** The rows of its database. By default, the tables of the site in SQLite. */
  readonly rows?: Rows
  /** The `Cookie` header for the session with this number. */
  readonly cookie: (session: number) => string
  /** The bearer credential for the token with this number. By default, it is the token. */
  readonly bearer?: (token: number) => string
  readonly isOurs?: boolean
  /** Whether it uses no authentication library. */
  readonly isByHand?: boolean
  /** The tasks that it supports. */
  readonly tasks: readonly string[]
}

const file = (name: string) => join(import.meta.dirname, 'servers', `${name}.ts`)
// Lets Node load the package from its TypeScript source.
const source = '--conditions=@koa-authenticators/source'
const siteTasks = ['bearer', 'session', 'visitor']
const allTasks = [...siteTasks, 'jwt-hs256', 'jwt-es256', 'jwt-eddsa']
const postgresTasks = ['postgres-bearer', 'postgres-session']

export const servers: readonly Server[] = [
  {
    key: 'layer',
    name: 'koa-authenticators',
    program: [source, file('layer')],
    cookie: (number) => `session=${session(number)}`,
    isOurs: true,
    tasks: [...allTasks, ...postgresTasks],
  },
  {
    key: 'layer-find-one',
    name: 'without prepared()',
    program: [source, file('layer'), 'em.findOne'],
    cookie: (number) => `session=${session(number)}`,
    isOurs: true,
    tasks: ['bearer', 'session'],
  },
  {
    key: 'koa-by-hand',
    name: 'Koa by hand',
    program: [file('koa-by-hand')],
    cookie: (number) => `session=${session(number)}`,
    isByHand: true,
    tasks: [...allTasks, ...postgresTasks],
  },
  {
    ...site,
    name: 'our site',
    cookie: (number) => `__Host-session=${session(number)}`,
    isOurs: true,
    tasks: siteTasks,
  },
  {
    key: 'site-by-hand',
    name: 'a site by hand',
    program: [file('site-by-hand')],
    cookie: (number) => `__Host-session=${session(number)}`,
    isByHand: true,
    tasks: siteTasks,
  },
  {
    key: 'fastify',
    name: 'Fastify 5',
    program: [file('fastify')],
    // @fastify/session signs its cookie.
    cookie: (number) => {
      const signature = signed(session(number)).replace(/=+$/, '')
      return `sessionId=${encodeURIComponent(`${session(number)}.${signature}`)}`
    },
    tasks: allTasks,
  },
  {
    key: 'koa-passport',
    name: 'koa-passport 6',
    program: [file('koa-passport')],
    cookie: () => '',
    tasks: ['bearer'],
  },
  {
    key: 'better-auth',
    name: 'Better Auth 1.7',
    program: [file('better-auth')],
    rows: betterAuthRows,
    cookie: () => '',
    bearer: (number) => encodeURIComponent(`${token(number)}.${signed(token(number))}`),
    tasks: ['bearer'],
  },
]

export function serverOf(key: string): Server {
  const server = servers.find((each) => each.key === key)
  if (!server) throw new Error(`There is no server "${key}".`)
  return server
}

export async function startServer(server: Server, keys: Keys, core?: number): Promise<RunningServer> {
  const { rows = sqliteRows(defaultAmounts) } = server
  const environment = { ...keys.environment, DATABASE_URL: await rows(server.key) }
  return start(server, environment, core)
}

function signed(text: string): string {
  return createHmac('sha256', cookieSecret).update(text).digest('base64')
}
