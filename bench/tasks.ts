import assert from 'node:assert/strict'
import { defaultAmounts, token, unknown, user, users } from './data.ts'
import { type Keys, newKeys } from './keys.ts'
import type { Algorithm } from './servers/environment.ts'
import { accountPage, isPage, loginPage } from './servers/pages.ts'
import type { Server } from './servers.ts'

/** A request with the same response from all servers. */
export interface Task {
  readonly key: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly algorithm?: Algorithm
  /** Multiplies the length of the warm-up. */
  readonly warmUps?: number
  /** The header with the credential. */
  readonly header?: 'Authorization' | 'Cookie'
  /** The possible values of that header. Each request sends one of them, chosen at random. */
  values(server: Server, keys: Keys): string[] | Promise<string[]>
  /** Values that must be rejected. */
  readonly wrong?: (server: Server, keys: Keys) => string[] | Promise<string[]>
  /** Asserts that the response is right. `number` is the index in `values`. */
  check(answer: Answer, number: number): void
}

export interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

const bearer: Task = {
  key: 'bearer',
  method: 'GET',
  path: '/me',
  header: 'Authorization',
  values: ({ bearer = token }) => numbers(defaultAmounts.tokens).map((number) => `Bearer ${bearer(number)}`),
  wrong: ({ bearer = token }) => [`Bearer ${bearer(unknown)}`, 'Bearer wrong', ''],
  check({ status, text }, number) {
    const { id, name, email } = user(number % users)
    assert.equal(status, 200)
    assert.deepEqual(JSON.parse(text), { id, name, email })
  },
}

function jwt(algorithm: Algorithm): Task {
  const { id } = user(0)
  return {
    key: `jwt-${algorithm.toLowerCase()}`,
    // The goal is for verified signatures that are cached, so nearly every token must have been verified once.
    warmUps: 3,
    method: 'POST',
    path: '/validateLoggedInUser',
    algorithm,
    header: 'Authorization',
    values: (_server, keys) =>
      Promise.all(numbers(users).map(async (number) => `Bearer ${await keys.sign(user(number).id)}`)),
    wrong: async (_server, keys) => [
      `Bearer ${await forged(keys)}`,
      `Bearer ${await keys.sign(id, { audience: 'another service' })}`,
      `Bearer ${await keys.sign(id, { expiration: new Date(Date.now() - 60_000) })}`,
      `Bearer ${await newKeys(algorithm === 'HS256' ? 'EdDSA' : 'HS256', 'other').sign(id)}`,
      'Bearer wrong',
      '',
    ],
    check({ status, text }) {
      assert.equal(status, 200)
      assert.equal(text, '')
    },
  }
}

const session: Task = {
  key: 'session',
  method: 'GET',
  path: '/account',
  header: 'Cookie',
  values: ({ cookie }) => numbers(defaultAmounts.sessions).map((number) => cookie(number)),
  wrong: ({ cookie }) => [cookie(unknown), altered(cookie(0)), ''],
  check({ status, text }, number) {
    assert.equal(status, 200)
    assert.ok(isPage(text, accountPage(user(number % users))), 'The page differs.')
  },
}

const visitor: Task = {
  key: 'visitor',
  method: 'GET',
  path: '/login',
  values: () => [''],
  check({ status, text, headers }) {
    assert.equal(status, 200)
    assert.ok(isPage(text, loginPage()), 'The page differs.')
    assert.equal(headers.get('set-cookie'), null)
  },
}

export const tasks: readonly Task[] = [bearer, jwt('HS256'), jwt('ES256'), jwt('EdDSA'), session, visitor]

export function taskOf(key: string): Task {
  const task = tasks.find((each) => each.key === key)
  if (!task) throw new Error(`There is no task "${key}".`)
  return task
}

function numbers(amount: number): number[] {
  return Array.from({ length: amount }, (_, number) => number)
}

/** A cookie with a changed last character. */
function altered(cookie: string): string {
  return cookie.slice(0, -1) + (cookie.endsWith('A') ? 'B' : 'A')
}

/** A token with the signature of another one. */
async function forged(keys: Keys): Promise<string> {
  const [header, payload] = (await keys.sign(user(0).id)).split('.')
  return `${header}.${payload}.${(await keys.sign(user(1).id)).split('.')[2]}`
}
