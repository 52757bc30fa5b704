import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { betterAuthDatabase, refreshBetterAuth } from './better-auth-data.ts'
import { cookieSecret, session, token, usual } from './data.ts'
import { database, refresh } from './database.ts'

/** One of the servers that are compared. */
export interface Server {
  /** As the command line and the results call it. */
  readonly key: string
  readonly name: string
  /** What Node is given to start it. */
  readonly program: readonly string[]
  /** The `Cookie` header of a browser that has the session of that number. */
  readonly cookie: (session: number) => string
  /** What stands for the token of that number in its `Authorization` header; the token itself, if this is left out. */
  readonly bearer?: (token: number) => string
  /** Its rows, if they are not in the site's tables. */
  readonly rows?: Rows
  readonly environment?: Readonly<Record<string, string>>
  /** Another program, which runs beside it on the same database, and not on its core. */
  readonly beside?: readonly string[]
  readonly isOurs?: boolean
  /** What a good engineer would write without a library: what ours is measured by. */
  readonly isByHand?: boolean
  /** Answers with constants: the ceiling that the others are measured against, and nobody's authentication. */
  readonly isConstant?: boolean
  /** Another by one setting, which shows what that costs: it is not drawn, unless it says so. */
  readonly isVariant?: boolean
  readonly isDrawn?: boolean
  /** The keys of the tasks that it can do; all, if this is left out. */
  readonly can?: readonly string[]
}

/** A database with the rows, and a way to say of all of them that they are in use, so that nobody has to note it. */
export interface Rows {
  database(): Promise<string>
  refresh(path: string): void
  /** Whether servers read the same. Each has a copy, unless this is said. */
  readonly isShared?: boolean
}

export const ours: Rows = { database: () => database(usual), refresh }

const root = join(import.meta.dirname, '..')
const file = (name: string) => join(import.meta.dirname, 'servers', `${name}.ts`)
/** Has Node load the layer and the site as they are written. */
export const source = '--conditions=@koa-authenticators/source'

const pageTasks = ['session', 'visitor']
const looksUp = ['bearer', ...pageTasks]

export const servers: readonly Server[] = [
  {
    key: 'site',
    name: 'our site, as it ships',
    program: [join(root, 'src/start.js'), 'server'],
    cookie: (number) => `__Host-session=${session(number)}`,
    isOurs: true,
  },
  {
    key: 'layer',
    name: 'koa-authenticators',
    program: [source, file('layer')],
    cookie: (number) => `session=${session(number)}`,
    isOurs: true,
  },
  {
    key: 'koa-by-hand',
    name: 'Koa by hand',
    program: [file('koa-by-hand')],
    isByHand: true,
    cookie: (number) => `session=${session(number)}`,
  },
  {
    key: 'site-by-hand',
    name: 'a site by hand',
    program: [file('site-by-hand')],
    isByHand: true,
    cookie: (number) => `__Host-session=${session(number)}`,
  },
  {
    key: 'koa-passport',
    name: 'koa-passport 6',
    program: [file('koa-passport')],
    cookie: (number) => keygripSigned(`koa.sess=${session(number)}`),
    can: [...looksUp, 'jwt-hs256', 'jwt-es256'],
  },
  {
    key: 'fastify',
    name: 'Fastify 5',
    program: [file('fastify')],
    cookie: (number) => `sessionId=${encodeURIComponent(signed(session(number)))}`,
  },
  {
    key: 'better-auth',
    name: 'Better Auth 1.7',
    program: [file('better-auth')],
    cookie: (number) => `__Secure-better-auth.session_token=${betterAuthToken(number)}`,
    bearer: betterAuthToken,
    rows: { database: betterAuthDatabase, refresh: refreshBetterAuth },
    can: looksUp,
  },
]

/** The server with that key. */
export function serverOf(key: string): Server {
  const server = servers.find((each) => each.key === key)
  if (!server) throw new Error(`There is no server "${key}".`)
  return server
}

/** A session identifier as express-session and @fastify/session sign it. */
function signed(id: string): string {
  return `${id}.${signature(id).replace(/=+$/, '')}`
}

/** A cookie as koa-session has it signed: in another one. */
function keygripSigned(cookie: string): string {
  const [name] = cookie.split('=')
  return `${cookie}; ${name}.sig=${createHmac('sha1', cookieSecret).update(cookie).digest('base64url')}`
}

// Its sessions are its bearer tokens, and it signs both.
function betterAuthToken(number: number): string {
  const value = token(number)
  return encodeURIComponent(`${value}.${signature(value)}`)
}

function signature(text: string): string {
  return createHmac('sha256', cookieSecret).update(text).digest('base64')
}
