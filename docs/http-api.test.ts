import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import problems from '../src/problems.json' with { type: 'json' }
import { routes } from '../src/testing/routes.ts'

const page = readFileSync(join(import.meta.dirname, 'http-api.md'), 'utf8')

describe('docs/http-api.md', () => {
  it('has every route of the site, and no other', () => {
    const listed = [...page.matchAll(/^\| (`(?:GET|POST) .*?) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`(GET|POST) ([^`?]+)[^`]*`/g)].map(([, method, path]) => `${method} ${path}`),
    )
    const known = routes.map(({ method, path }) => `${method} ${pattern(path)}`)
    assert.deepEqual(new Set(listed), new Set(known), 'Correct the tables of docs/http-api.md.')
  })

  it('has every code of a problem with its status, and no other', () => {
    const [, errors = ''] = page.split('\n## Errors\n')
    const rows = [...errors.matchAll(/^\| (\d{3}(?:, \d{3})*) \| (.*?) \|/gm)]
    const listed = rows.flatMap(([, statuses = '', codes = '']) =>
      [...codes.matchAll(/`([a-z]+(?:_[a-z]+)*)`/g)].flatMap(([, code = '']) =>
        code === 'detail' ? [] : [{ code, statuses }],
      ),
    )
    assert.deepEqual(listed.map(({ code }) => code).sort(), Object.keys(problems).sort())
    for (const [code, { status }] of Object.entries(problems))
      assert.ok(listed.find((each) => each.code === code)?.statuses.includes(String(status)), code)
  })
})

/** Restores the parameters of a path, because `routes` contains example values instead. */
function pattern(path: string): string {
  return path
    .replace(/[\da-f]{8}-[\da-f-]{27}/, ':id')
    .replace('/with/company', '/with/:provider')
    .replace(/^\/problems\/.*/, '/problems/:code')
}
