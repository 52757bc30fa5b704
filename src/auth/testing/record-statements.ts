import type { TestContext } from 'node:test'
import type { MikroORM } from '@mikro-orm/core'

interface Statement {
  readonly source: string
  readonly database: unknown
  get(...values: unknown[]): unknown
}

/** Records the statements that this ORM prepares and runs on SQLite until the test ends, except streamed queries. */
export async function recordStatements(t: TestContext, orm: MikroORM): Promise<string[]> {
  const statements: string[] = []
  const client: unknown = await orm.em.getConnection().getNativeClient()
  // MikroORM does not declare the type of the driver's client.
  const prototype = Object.getPrototypeOf((client as { prepare(sql: string): Statement }).prepare('select 1'))
  for (const name of ['get', 'all', 'run'] as const) {
    const run = prototype[name] as (...values: unknown[]) => unknown
    t.mock.method(prototype, name, function (this: Statement, ...values: unknown[]) {
      // Omits the statements that MikroORM runs once to read the schema.
      const readsSchema = /^pragma |\bsqlite_schema\b/i.test(this.source)
      if (this.database === client && !readsSchema) statements.push(this.source)
      return run.apply(this, values)
    })
  }
  return statements
}
