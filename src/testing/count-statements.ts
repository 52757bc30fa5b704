import type { TestContext } from 'node:test'
import { recordStatements } from './record-statements.ts'
import type { Site } from './site.ts'

/** Counts the statements that the site runs until the test ends. What it returns begins anew, and tells what they were. */
export async function countStatements(t: TestContext, { orm }: Site): Promise<() => string[]> {
  const statements = await recordStatements(t, orm)
  return () => statements.splice(0)
}
