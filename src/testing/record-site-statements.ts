import type { TestContext } from 'node:test'
import { recordStatements } from './record-statements.ts'
import type { Site } from './site.ts'

/** Records the statements of a site until the test ends. The returned function reads and resets the record. */
export async function recordSiteStatements(t: TestContext, { orm }: Site): Promise<() => string[]> {
  const statements = await recordStatements(t, orm)
  return () => statements.splice(0)
}
