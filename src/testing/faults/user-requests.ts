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

type Requests = Record<string, () => Promise<Answer>>

/** Signs up a user with a session, a token and a JWT. Returns requests, grouped by their use of the database. */
export async function userRequests(site: AnySite, name = 'Ada') {
  const person = await signUp(site, name)
  const ada = await signIn(site, person)
  const signingOut = await signIn(site, person)
  const { session: leaving } = signingOut
  const [token, jwt] = [await takeToken(site, person), await takeJWT(site, person)]
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
  const send = async ([name, each]: [string, () => Promise<Answer>]) => [name, (await each()).status] as const
  const answers = await Promise.all(all.flatMap((each) => Object.entries(each)).map(send))
  const unexpected = answers.filter(([, status]) => !isExpected(status))
  assert.deepEqual(unexpected, [])
}

export const isSuccess = (status: number) => status < 400
export const isUnavailable = (status: number) => status === 503
