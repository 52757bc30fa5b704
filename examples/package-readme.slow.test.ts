import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { describe, test } from 'node:test'
import { blocksOf, programOf, readme, sectionOf } from './testing/package-readme.ts'

const folder = import.meta.dirname
const names = (await readdir(folder)).filter((name) => /^[\w-]+\.ts$/.test(name))
const examples = await Promise.all(names.map((name) => readFile(`${folder}/${name}`, 'utf8')))

describe('the README of the package', () => {
  test('shows five programs without the comment at their top, byte for byte', async () => {
    for (const name of ['website.ts', 'api.ts', 'models.ts', 'jwt.ts', 'openid.ts'])
      assert.ok(blocksOf().includes(await programOf(name)), name)
  })

  test('shows only code of the examples, except in some sections', () => {
    // website.slow.test.ts tests the route of "Sign up". The libraries of "With any database" are not installed.
    const names = [
      '### Sign up',
      '## With any database',
      '### Session or API token or JWT',
      '## Test your own routes',
    ]
    const others = names.map(sectionOf).flatMap(blocksOf)
    const excerpts = blocksOf().filter((block) => !others.includes(block))
    assert.ok(excerpts.length > 10)

    for (const excerpt of excerpts) {
      const code = excerpt.replace(/^(import [^\n]+\n)+\n/, '')
      assert.ok(
        examples.some((example) => example.includes(code)),
        `no example contains\n${excerpt}`,
      )
    }
  })

  test('has two functions for each database, in valid TypeScript', () => {
    const databases = blocksOf(sectionOf('## With any database'))
    assert.equal(databases.length, 5)

    for (const lines of databases) {
      stripTypeScriptTypes(lines)
      assert.match(lines, /^const rowByEmail = .*^const rowByID = /ms)
    }
  })

  test('takes each curl command from the top of an example', () => {
    const lines = [...readme.matchAll(/^ {4}((?:curl|FORM=|TOKEN=).+)$/gm)].map(([, line = '']) => line)
    assert.ok(lines.length > 6)

    for (const line of lines)
      assert.ok(
        examples.some((example) => example.includes(`\n//   ${line}`)),
        line,
      )
  })

  test('lists the codes of all errors and warnings, and no other codes', async () => {
    const sources = globSync('../src/auth/**/*.ts', { cwd: folder }).filter(
      (path) => !/\.test\.ts$|\/dist\//.test(path),
    )
    const texts = await Promise.all(sources.map((path) => readFile(`${folder}/${path}`, 'utf8')))
    const codesIn = (text: string) => [...new Set(text.match(/\b(ERR_AUTH|KOA_AUTH)_\w+/g))].sort()

    assert.deepEqual(codesIn(sectionOf('## Errors and warnings')), codesIn(texts.join()))
  })

  test('links to its own headings and to absolute URLs only', () => {
    const headings = [...readme.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))

    for (const [, target = ''] of readme.matchAll(/\]\(([^)]+)\)/g))
      assert.ok(target.startsWith('https://') || headings.includes(target), target)
  })

  test('links to files of the repository that exist', async () => {
    const prefix = 'https://github.com/koa-authenticators/koa-authenticators/blob/main/'
    const links = readme.split(`(${prefix}`).slice(1)
    assert.ok(links.length > 10)

    for (const link of links) await readFile(`${folder}/../${link.split(')')[0]}`)
  })
})

/** The anchor of a heading, as GitHub and npm make it. */
function anchorOf(heading: string): string {
  return `#${heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')}`
}
