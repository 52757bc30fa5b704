import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { format } from 'node:util'
import { runUserCommand } from '../commands/user/run-user-command.ts'
import { databaseName } from '../database/database-url.ts'
import { setBcryptCost } from '../users/password.ts'
import { basic, bearer, signIn, takeJWT, takeToken } from './people.ts'
import type { Outcome } from './run-command.ts'
import { type Site, startSite } from './site.ts'

/** Starts a site, and returns it with a function that runs a command of `npm run user` on its database, in this process. */
export async function startWithUserCommand(t: TestContext, environment = {}) {
  const site = await startSite(t, environment)
  const { dataDir, databaseUrl } = site.config
  const env = { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, BCRYPT_COST: '4' }
  const user = async (line: string, input = '', variables = {}): Promise<Outcome> => {
    const words = line.split(' ').filter(Boolean)
    const lines: string[] = []
    const { code, problem } = await runUserCommand(
      words,
      { ...env, ...variables },
      Readable.from([Buffer.from(input)]),
      (line) => lines.push(`${line}\n`),
    )
    // The command has set the bcrypt cost of this process.
    setBcryptCost(site.config.bcryptCost)
    return code === 0
      ? { code, out: lines.join(''), errors: '' }
      : { code, out: '', errors: format('%s\n', problem) }
  }
  return { site, user, env, database: databaseName(databaseUrl), em: () => site.orm.em.fork() }
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
