import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { EntityClass } from '@mikro-orm/core'
import { MikroORM, type Options } from '@mikro-orm/postgresql'

const server = process.env.TEST_DATABASE_URL

/** For a test that is about PostgreSQL itself: `npm run postgres` runs it. */
export const onlyPostgres: { skip: string | false } = {
  skip: server === undefined && 'PostgreSQL only: npm run postgres',
}

/** An ORM over a new database of the server for the length of one test. `parameters` are those of its URL. */
export async function openPostgres(
  t: TestContext,
  entities: EntityClass<object>[],
  { parameters = '', ...options }: Options & { parameters?: string } = {},
) {
  const url = new URL(server ?? '')
  url.pathname = `koa_auth_${randomBytes(8).toString('hex')}`
  const owner = await MikroORM.init({ clientUrl: url.href, entities })
  await owner.schema.ensureDatabase()
  await owner.schema.create()
  const orm = await MikroORM.init({ ...options, clientUrl: `${url.href}${parameters}`, entities })
  t.after(async () => {
    await orm.close(true)
    await owner.schema.dropDatabase()
    await owner.close(true)
  })
  return { orm, owner }
}
