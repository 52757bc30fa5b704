import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

const examples = join(import.meta.dirname, '..')

/** The README of the package. */
export const readme = await readFile(join(examples, '../src/auth/README.md'), 'utf8')

/** The TypeScript blocks of a section of that README, or of the whole README. */
export function blocksOf(section = readme): string[] {
  return [...section.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block = '']) => block)
}

/** The section with that heading, up to the next heading. */
export function sectionOf(heading: string): string {
  const section = readme.split(/^(?=##+ )/m).find((each) => each.startsWith(`${heading}\n`))
  if (section === undefined) throw new Error(`The README has no heading "${heading}".`)
  return section
}

/** The source of an example without the comment at its top. The README shows it in this form. */
export async function programOf(name: string): Promise<string> {
  const source = await readFile(join(examples, name), 'utf8')
  return source.slice(source.indexOf('\n\n') + 2)
}
