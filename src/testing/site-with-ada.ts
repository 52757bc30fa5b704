import type { TestContext } from 'node:test'
import { signIn, signUp } from './people.ts'
import { startSite } from './site.ts'

/** Runs a site until the test ends, with an account of Ada and her signed-in browser. */
export async function siteWithAda(t: TestContext, environment: Record<string, string> = {}) {
  const site = await startSite(t, environment)
  const person = await signUp(site)
  return { site, person, ada: await signIn(site, person) }
}
