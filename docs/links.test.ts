import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, it } from 'node:test'

const root = join(import.meta.dirname, '..')
const pages = globSync('{*.md,{docs,docs/evidence,bench,examples,src/auth}/*.md}', { cwd: root })

describe('the documentation', () => {
  for (const page of pages)
    it(`${page} links only to files and headings that exist`, () => {
      for (const link of linksOf(page)) {
        const [file = '', heading] = link.split('#')
        const target = file === '' ? page : relative(root, join(root, dirname(page), file))
        assert.ok(existsSync(join(root, target)), link)
        if (heading !== undefined && target.endsWith('.md'))
          assert.ok(headingsOf(target).includes(heading), link)
      }
    })

  it('lists every page of the folder docs in docs/README.md', () => {
    const listed = linksOf('docs/README.md')
    const others = globSync('*.md', { cwd: import.meta.dirname }).filter((name) => name !== 'README.md')
    assert.deepEqual(
      others.filter((name) => !listed.includes(name)),
      [],
    )
  })
})

/** The links and images of a page that refer to this repository. */
function linksOf(page: string): string[] {
  const links = [...withoutCode(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  return links.filter((link) => !/^[a-z]+:/.test(link))
}

/** The anchors that GitHub gives to the headings of a page. */
function headingsOf(page: string): string[] {
  return [...withoutCode(page).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function withoutCode(page: string): string {
  return readFileSync(join(root, page), 'utf8').replace(/^```.*?^```$/gms, '')
}
