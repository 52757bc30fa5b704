import type { TestContext } from 'node:test'
import { type EntityClass, MikroORM, type Options } from '@mikro-orm/sqlite'
import { recordStatements } from './record-statements.ts'

/** An ORM over an empty database in memory, and the statements that it ran, for the length of one test. */
export async function openORM(t: TestContext, ...entities: EntityClass<object>[]) {
  return openORMWith(t, { entities })
}

/** The same with options of the test's own. */
export async function openORMWith(t: TestContext, options: Options) {
  const orm = await MikroORM.init({ dbName: ':memory:', ...options })
  t.after(() => orm.close(true))
  await orm.schema.create()
  const statements = await recordStatements(t, orm)
  return { orm, statements }
}
