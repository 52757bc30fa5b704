import type { TestContext } from 'node:test'
import { type EntityClass, MikroORM, type Options } from '@mikro-orm/sqlite'
import { recordStatements } from './record-statements.ts'

/** Opens an ORM on an empty in-memory database until the test ends, and records its statements. */
export async function openORM(t: TestContext, ...entities: EntityClass<object>[]) {
  return openORMWith(t, { entities })
}

/** `openORM` with other options. */
export async function openORMWith(t: TestContext, options: Options) {
  const orm = await MikroORM.init({ dbName: ':memory:', ...options })
  t.after(() => orm.close(true))
  await orm.schema.create()
  const statements = await recordStatements(t, orm)
  return { orm, statements }
}
