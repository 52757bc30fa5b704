import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { routes } from '../src/testing/routes.ts'

const page = readFileSync(join(import.meta.dirname, 'http-api.md'), 'utf8')

describe('docs/http-api.md', () => {
  it('has every route of the site', () => {
    const listed = [...page.matchAll(/^\| (`(?:GET|POST) .*?) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`(GET|POST) ([^`?]+)[^`]*`/g)].map(([, method, path]) => `${method} ${path}`),
    )
    const existing = routes.map(
      ({ method, path }) => `${method} ${path.replace(/[\da-f-]{36}/, ':id').replace('not_found', ':code')}`,
    )
    assert.deepEqual(
      existing.filter((route) => !listed.includes(route)),
      [],
    )
  })
})
