import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folder, nobody, token, user, usual } from './data.ts'
import { type Keys, newKeys } from './keys.ts'
import type { Load } from './load.ts'
import type { Algorithm } from './servers/environment.ts'
import { accountPage, loginPage } from './servers/pages.ts'
import type { Server } from './servers.ts'

/** Something that every server is asked for, and what it has to answer. */
export interface Task {
  readonly key: string
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly algorithm?: Algorithm
  /** The header that says who asks, and its values: all of them are used. */
  readonly header?: 'Authorization' | 'Cookie'
  values(server: Server, keys: Keys): string[]
  /** How many ask at a time: 32, if not said. */
  readonly connections?: number
  /** Whether those who ask have not been seen for a minute, so that it is to be noted that they were. */
  readonly isDue?: boolean
  /** Values that nobody may be let in with. */
  readonly wrong?: readonly ((server: Server, keys: Keys) => string)[]
  /** What is answered to the value of that number. */
  check(answer: Answer, number: number): void
}

export interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

const numbers = (amount: number) => Array.from({ length: amount }, (_, number) => number)

const bearer: Task = {
  key: 'bearer',
  name: 'GET /me, a bearer token that is looked up',
  method: 'GET',
  path: '/me',
  header: 'Authorization',
  values: ({ bearer = token }) => numbers(usual.tokens).map((number) => `Bearer ${bearer(number)}`),
  wrong: [({ bearer = token }) => `Bearer ${bearer(nobody)}`, () => 'Bearer wrong', () => ''],
  check({ status, text }, number) {
    const { id, name, email } = user(number % usual.users)
    assert.equal(status, 200)
    assert.deepEqual(JSON.parse(text), { id, name, email })
  },
}

// A hundredth of them, from all over the table: what a service sees whose clients call it again and again.
const bearerAgain: Task = {
  ...bearer,
  key: 'bearer-again',
  name: 'GET /me, bearer tokens that come again: a hundredth of them',
  values: ({ bearer = token }) =>
    numbers(usual.tokens / 100).map((number) => `Bearer ${bearer(number * 100 + (number % 100))}`),
  check: (answer, number) => bearer.check(answer, number * 100 + (number % 100)),
}

const bearerDue: Task = {
  ...bearer,
  key: 'bearer-due',
  name: 'GET /me, a bearer token that was not used for a minute',
  isDue: true,
}

// Whoever works on several requests together has only one here.
const bearerAlone: Task = {
  ...bearer,
  key: 'bearer-alone',
  name: 'GET /me, a bearer token, one request at a time',
  connections: 1,
}

function jwt(algorithm: Algorithm): Task {
  return {
    key: `jwt-${algorithm.toLowerCase()}`,
    name: `POST /validateLoggedInUser, a JWT signed with ${algorithm}`,
    method: 'POST',
    path: '/validateLoggedInUser',
    algorithm,
    header: 'Authorization',
    values: (_server, keys) => numbers(usual.users).map((number) => `Bearer ${keys.sign(user(number).id)}`),
    wrong: [
      (_server, keys) => `Bearer ${forged(keys)}`,
      (_server, keys) => `Bearer ${keys.sign(user(0).id, { audience: 'somebody else' })}`,
      (_server, keys) => `Bearer ${keys.sign(user(0).id, { expiration: new Date(Date.now() - 60_000) })}`,
      () => `Bearer ${newKeys(algorithm === 'HS256' ? 'EdDSA' : 'HS256', 'other').sign(user(0).id)}`,
      () => 'Bearer wrong',
      () => '',
    ],
    check({ status, text }) {
      assert.equal(status, 200)
      assert.equal(text, '')
    },
  }
}

const sessionPage: Task = {
  key: 'session',
  name: 'GET /account, the page of somebody with a session',
  method: 'GET',
  path: '/account',
  header: 'Cookie',
  values: ({ cookie }) => numbers(usual.sessions).map((number) => cookie(number)),
  wrong: [({ cookie }) => cookie(nobody), ({ cookie }) => altered(cookie(0)), () => ''],
  check({ status, text }, number) {
    assert.equal(status, 200)
    assert.ok(text === accountPage(user(number % usual.users)), 'It answers with another page.')
  },
}

const sessionDue: Task = {
  ...sessionPage,
  key: 'session-due',
  name: 'GET /account, the page of somebody who was not seen for a minute',
  isDue: true,
}

const visitorPage: Task = {
  key: 'visitor',
  name: 'GET /login, the page of a visitor',
  method: 'GET',
  path: '/login',
  values: () => [''],
  check({ status, text, headers }) {
    assert.equal(status, 200)
    assert.ok(text === loginPage(), 'It answers with another page.')
    assert.equal(headers.get('set-cookie'), null)
  },
}

const constant: Task = {
  key: 'constant',
  name: 'GET /healthz, a constant',
  method: 'GET',
  path: '/healthz',
  values: () => [''],
  check({ status, text }) {
    assert.equal(status, 200)
    assert.equal(text, 'ok')
  },
}

/** What is measured in requests a second. */
export const tasks: readonly Task[] = [
  bearer,
  bearerAgain,
  bearerDue,
  bearerAlone,
  jwt('HS256'),
  jwt('ES256'),
  jwt('EdDSA'),
  sessionPage,
  sessionDue,
  visitorPage,
  constant,
]

/** The task with that key. */
export function taskOf(key: string): Task {
  const task = tasks.find((each) => each.key === key)
  if (!task) throw new Error(`There is no task "${key}".`)
  return task
}

/** The load of a task for one server. Signed tokens are made anew, because they do not live long. */
export function loadOf(task: Task, server: Server, keys: Keys): Load {
  const values = join(folder, 'values', `${server.key}-${task.key}.txt`)
  mkdirSync(join(folder, 'values'), { recursive: true })
  writeFileSync(values, `${task.values(server, keys).join('\n')}\n`)
  const { method, path, header, connections } = task
  return { method, path, header, values, connections }
}

/** Has a server answer as it should, and refuse as it should, before it is measured. */
export async function check(task: Task, server: Server, url: string, keys: Keys): Promise<void> {
  const values = task.values(server, keys)
  for (const number of [0, 1, 2, Math.floor(values.length / 2), values.length - 1]) {
    const value = values[number]
    if (value === undefined) continue
    const answer = await ask(task, url, value)
    // Of a constant it is only the size that counts.
    if (server.isConstant) assert.equal(answer.status, 200)
    else task.check(answer, number)
  }
  if (server.isConstant) return
  for (const wrong of task.wrong ?? []) {
    const { status } = await ask(task, url, wrong(server, keys))
    // A page may send them to sign in.
    const isRefused = status === 401 || (task.header === 'Cookie' && (status === 302 || status === 303))
    assert.ok(isRefused, `It answers ${status} to wrong credentials.`)
  }
}

async function ask({ method, path, header }: Task, url: string, value: string): Promise<Answer> {
  const headers = { 'X-Forwarded-For': '192.0.2.1', 'X-Forwarded-Proto': 'https' }
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: header && value ? { ...headers, [header]: value } : headers,
  })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

/** A cookie that ends otherwise: in another identifier, or in a signature that is none. */
function altered(cookie: string): string {
  return cookie.slice(0, -1) + (cookie.endsWith('A') ? 'B' : 'A')
}

/** A token whose signature is that of another. */
function forged(keys: Keys): string {
  const [header, payload] = keys.sign(user(0).id).split('.')
  return `${header}.${payload}.${keys.sign(user(1).id).split('.')[2]}`
}
