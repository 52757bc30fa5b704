import assert from 'node:assert/strict'
import {
  type AnySite,
  basic,
  bearer,
  password,
  registration,
  signIn,
  signUp,
  takeJWT,
  takeToken,
} from '../people.ts'
import type { Answer } from '../promises.ts'
import { patient } from './patient-site.ts'
import { until } from './until.ts'

type Requests = Record<string, () => Promise<Answer>>

/** Signs up a user with a session, a token and a JWT. Returns requests, grouped by their use of the database. */
export async function userRequests(site: AnySite, name = 'Ada') {
  const setUp = patient(site)
  const person = await signUp(setUp, name)
  const ada = site.visitor((await signIn(setUp, person)).session)
  const signingOut = site.visitor((await signIn(setUp, person)).session)
  const { session: leaving } = signingOut
  const [token, jwt] = [await takeToken(setUp, person), await takeJWT(setUp, person)]
  const credentials = { username: person.email, password }
  let others = 0
  const newUser = () => registration(`${name}s${++others}`) as Record<string, string>

  const open: Requests = {
    'GET /': () => site.visitor().page('/'),
    'GET /login': () => site.visitor().page('/login'),
    'GET /signup': () => site.visitor().page('/signup'),
    'GET /style.css': () => site.visitor().get('/style.css'),
    'GET /healthz': () => site.visitor().get('/healthz'),
    'POST /validateLoggedInUser': () => site.visitor().post('/validateLoggedInUser', bearer(jwt)),
  }
  const reading: Requests = {
    'GET / by session': () => ada.page('/'),
    'GET /account by session': () => ada.page('/account'),
    'GET /me by session': () => ada.get('/me'),
    'GET /me by token': () => site.visitor().get('/me', bearer(token)),
    'GET /me by JWT': () => site.visitor().get('/me', bearer(jwt)),
    'GET /secure by token': () => site.visitor().get('/secure', bearer(token)),
    'GET /readyz': () => site.visitor().get('/readyz'),
  }
  const writing: Requests = {
    'POST /login by form': () => site.visitor().form('/login', credentials),
    'POST /login by JSON': () => site.visitor().json('/login', credentials),
    'POST /login by Basic': () => site.visitor().post('/login', basic(person)),
    'POST /users': () => site.visitor().json('/users', newUser()),
    'POST /users by form': () => site.visitor().form('/users', newUser()),
    // Sends the cookie even after the session has ended. Without a cookie, the request would not use the database.
    'POST /logout': () => site.visitor(leaving).post('/logout'),
  }
  return { person, ada, signingOut, token, jwt, credentials, open, reading, writing }
}

/** Sends all requests concurrently, and asserts the status of each response. */
export async function assertStatuses(
  isExpected: (status: number) => boolean,
  ...all: Requests[]
): Promise<void> {
  const answers = await sendAll(all)
  const unexpected = answers.filter(([, status]) => !isExpected(status))
  assert.deepEqual(unexpected, [])
}

function sendAll(all: Requests[]) {
  const send = async ([name, each]: [string, () => Promise<Answer>]) => [name, (await each()).status] as const
  return Promise.all(all.flatMap((each) => Object.entries(each)).map(send))
}

/** Repeats requests until all succeed. Only 503 may precede it, because the site may still recover, or the machine is busy. */
export function untilAllSucceed(...all: Requests[]): Promise<void> {
  return until('all requests succeed', async () => {
    const answers = await sendAll(all)
    const failures = answers.filter(([, status]) => !isSuccess(status))
    assert.deepEqual(
      failures.filter(([, status]) => !isUnavailable(status)),
      [],
    )
    return failures.length === 0
  })
}

export const isSuccess = (status: number) => status < 400
export const isUnavailable = (status: number) => status === 503
