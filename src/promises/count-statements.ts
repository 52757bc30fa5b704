import type { TestContext } from 'node:test'
import type { Site } from '../testing/site.ts'

/** Counts the statements that the site runs until the test ends. What it returns begins anew, and tells what they were. */
export async function countStatements(t: TestContext, { orm }: Site): Promise<() => string[]> {
  const statements: string[] = []
  const native = await orm.em.getConnection().getNativeClient()
  // The driver's own client, which MikroORM's widest type does not know.
  const client = native as { prepare(sql: string): object }
  const prepare = client.prepare.bind(client)
  t.mock.method(client, 'prepare', (sql: string) => {
    statements.push(sql)
    return prepare(sql)
  })
  return () => statements.splice(0)
}
