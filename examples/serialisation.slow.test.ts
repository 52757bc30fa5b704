import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)

// Runs after the models of an example. Prints a user, a token and the user of the token, each serialised in five ways.
const serialiseModels = `
const { serialize, wrap } = await import('@mikro-orm/core')
const em = orm.em.fork()
const user = em.create(User, { name: 'Ada', email: 'ada@example.com', passwordHash: 'canary-hash' })
em.create(UserToken, { value: 'canary-value', user, expiresAt: new Date(0) })
await em.flush()
const token = await orm.em.fork().findOneOrFail(UserToken, { value: 'canary-value' }, { populate: ['user'] })
const ways = (entity) => [
  JSON.stringify(entity),
  JSON.stringify(wrap(entity).toJSON()),
  JSON.stringify(wrap(entity).toObject()),
  JSON.stringify(wrap(entity).serialize()),
  JSON.stringify(serialize(entity, { populate: ['*'], forceObject: true })),
]
console.log(JSON.stringify([...ways(token), ...ways(token.user), ...ways(user)]))
await orm.close()
`

async function serialised(example: string): Promise<string[]> {
  const source = await readFile(join(import.meta.dirname, example), 'utf8')
  const createTables = 'await orm.schema.update()'
  const [models] = source.split(createTables)
  const options = ['--conditions=@koa-authenticators/source', '--input-type=module-typescript']
  const { stdout } = await run(
    process.execPath,
    [...options, '--eval', models + createTables + serialiseModels],
    {
      cwd: import.meta.dirname,
    },
  )
  return JSON.parse(stdout)
}

describe('the models of the examples', () => {
  it('P9 show no password hash and no stored token in five ways of serialisation: models.ts', async () => {
    assertHidden(await serialised('models.ts'))
  })

  it('P9 show no password hash and no stored token in five ways of serialisation: mikro-orm.ts', async () => {
    assertHidden(await serialised('mikro-orm.ts'))
  })
})

function assertHidden(texts: string[]): void {
  assert.equal(texts.length, 15)
  for (const text of texts) {
    assert.match(text, /ada@example\.com|expiresAt/)
    assert.doesNotMatch(text, /canary|passwordHash|"value"/)
  }
}
