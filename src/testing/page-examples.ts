import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from '../config/root.ts'
import type { Views } from '../site/view-data.ts'

/** A hostile value in place of each input. */
export const payload = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`

/** The data of pages in several states. A feature exports its own as `examples` of `testing/pages.ts`. */
export type PageExamples = { readonly [Name in keyof Views]?: readonly Views[Name][] }

/** The examples of all pages. */
export async function pageExamples(): Promise<PageExamples> {
  const all: PageExamples[] = []
  for await (const file of glob('src/{site,features/*}/testing/pages.ts', { cwd: root })) {
    const { examples }: { examples: PageExamples } = await import(join(root, file))
    all.push(examples)
  }
  return Object.assign({}, ...all)
}
