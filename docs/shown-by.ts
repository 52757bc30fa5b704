import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** A row of a table, by its cells. */
export type Row = readonly string[]

/** The rows of the tables of a page in this folder whose first cell has this form. */
export function rowsOf(page: string, first: RegExp): Row[] {
  return readFileSync(join(root, 'docs', page), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) =>
      line
        .slice(2, -2)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll(/\\(?=[|<])/g, '')),
    )
    .filter(([cell = '']) => first.test(cell))
}

/**
 * What is wrong with a cell that says by what a row is shown: tests, as `[file](../file): full title`, a heading of a page
 * in the same form, or a reason why there is none, as `open: a sentence.`, `not met: …` or `not applicable: …`; several with `<br>` between them.
 */
export function problemsWith(shownBy: string): string[] {
  const named = shownBy.split('<br>')
  const problems = named.flatMap((each) => {
    if (isReason(each)) return []
    const [, file = '', target, title = ''] = /^\[([^\]]+)\]\(\.\.\/([^)]+)\): (.+)$/.exec(each) ?? []
    if (file === '' || file !== target) return [`names no test: ${each}`]
    return titlesIn(file).has(title) ? [] : [`${file} has no “${title}”`]
  })
  return new Set(named).size < named.length ? [...problems, 'names a test twice'] : problems
}

function isReason(text: string): boolean {
  return /^(open|not met|not applicable): .+\.\)?$/.test(text)
}

const known = new Map<string, ReadonlySet<string>>()

/** The headings of a page; or the full names of the tests in a file, as they stand in the source: of one in a loop, with its placeholders. */
function titlesIn(file: string): ReadonlySet<string> {
  const titles = known.get(file) ?? readTitles(file)
  known.set(file, titles)
  return titles
}

function readTitles(file: string): ReadonlySet<string> {
  const path = join(root, file)
  if (!/\.(test|spec)\.ts$|\.md$/.test(file) || !existsSync(path)) return new Set()
  const source = readFileSync(path, 'utf8')
  if (file.endsWith('.md'))
    return new Set([...source.matchAll(/^##+ (.+)$/gm)].map(([, title = '']) => title))
  const calls =
    /^( *)(describe|test)\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/gm
  const names = new Set<string>()
  let group = ''
  for (const [, indent, call, single, double, template] of source.matchAll(calls)) {
    const title = (single ?? double ?? template ?? '').replaceAll(/\\(.)/g, '$1')
    if (call === 'describe') group = `${title} › `
    else names.add(indent === '' ? title : group + title)
  }
  return names
}
