import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { databaseName } from '../database/database-url.ts'
import { basic, bearer, signIn, takeJWT, takeToken } from './people.ts'
import { type Outcome, runCommand } from './run-command.ts'
import { type Site, startSite } from './site.ts'

/** Starts a site, and returns it with a function that runs `npm run user` on its database. */
export async function startWithUserCommand(t: TestContext, environment = {}) {
  const site = await startSite(t, environment)
  const { dataDir, databaseUrl } = site.config
  const user = (words: string, input = '', variables = {}): Promise<Outcome> => {
    const env = { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, BCRYPT_COST: '4', ...variables }
    return runCommand(['commands/user', ...words.split(' ').filter(Boolean)], env, input)
  }
  return { site, user, database: databaseName(databaseUrl), em: () => site.orm.em.fork() }
}

/** Signs a user in by session, token and JWT. Returns a function that requests `/me` with each and returns the statuses. */
export async function signInWithEachCredential(site: Site, person: { email: string }) {
  const visitor = await signIn(site, person)
  const [token, jwt] = [await takeToken(site, person), await takeJWT(site, person)]
  const statuses = async () => {
    const answers = [
      await visitor.get('/me'),
      await site.visitor().get('/me', bearer(token)),
      await site.visitor().get('/me', bearer(jwt)),
    ]
    return answers.map(({ status }) => status)
  }
  assert.deepEqual(await statuses(), [200, 200, 200])
  return statuses
}

/** The status of a login with Basic. */
export async function loginStatus(site: Site, person: { email: string }, password?: string): Promise<number> {
  return (await site.visitor().post('/login?as=user', basic(person, password))).status
}
