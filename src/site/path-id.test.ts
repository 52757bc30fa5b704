import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { routes } from '../testing/routes.ts'
import { startSite } from '../testing/site.ts'
import { siteWithAda } from '../testing/site-with-ada.ts'
import { User } from '../users/user.ts'
import { pathId } from './path-id.ts'
import { problemOf } from './problem.ts'

describe('a malformed id in a path', () => {
  test('is rejected by every route', async (t) => {
    const { ada } = await siteWithAda(t)
    const withParameters = routes.filter(({ template }) => template.includes(':'))
    assert.ok(withParameters.length >= 5)
    for (const { method, template } of withParameters) {
      const path = template.replace(/:\w+/g, 'x')
      const { status } = method === 'POST' ? await ada.post(path) : await ada.get(path)
      assert.ok(status === 303 || (status >= 400 && status < 500), `${method} ${path}: ${status}`)
    }
  })

  test('is 404 if the route reads it with pathId', () => {
    assert.throws(() => pathId({ params: { id: 'x' } }), { status: 404 })
    const id = '01234567-89AB-7CDE-8F01-23456789ABCD'
    assert.equal(pathId({ params: { id } }), id.toLowerCase())
  })

  test('is 400, not 503, if the route passes it to the database', async (t) => {
    const site = await startSite(t)
    const find = () => site.orm.em.fork().findOne(User, 'x')
    const result = await find().catch((error: unknown) => problemOf(error, '').status)
    // SQLite compares any text.
    assert.ok(result === null || result === 400, String(result))
  })
})
