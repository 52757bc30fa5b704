import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { EntityClass } from '@mikro-orm/core'
import { MikroORM, type Options } from '@mikro-orm/postgresql'

const server = process.env.TEST_DATABASE_URL

/** Test options for tests of PostgreSQL, which `npm run postgres` runs. */
export const onlyPostgres: { skip: string | false } = {
  skip: server === undefined && 'PostgreSQL only: npm run postgres',
}

/** Opens `orm` on a new database until the test ends. `parameters` is the query string of its URL. `owner` is a second ORM, without `parameters`. */
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
