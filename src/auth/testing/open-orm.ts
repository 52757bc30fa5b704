import type { TestContext } from 'node:test'
import { type EntityClass, MikroORM } from '@mikro-orm/sqlite'

/** An ORM over an empty database in memory, and the statements that it ran, for the length of one test. */
export async function openORM(t: TestContext, ...entities: EntityClass<object>[]) {
  const statements: string[] = []
  const orm = await MikroORM.init({
    dbName: ':memory:',
    entities,
    debug: ['query'],
    colors: false,
    logger: (line) => statements.push(line),
  })
  t.after(() => orm.close(true))
  await orm.schema.create()
  statements.splice(0)
  return { orm, statements }
}
