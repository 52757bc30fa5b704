import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AuthError, Forbidden, Misuse, ProviderError, Unauthorized, Undecided } from './errors.ts'

describe('AuthError', () => {
  test('has a status for the client and a code that programs can rely on', () => {
    const cause = new Error('the database is down')
    for (const [error, name, status, code, expose] of [
      [new Unauthorized(), 'Unauthorized', 401, 'ERR_AUTH_REQUIRED', true],
      [new Unauthorized([], 'ERR_AUTH_INVALID_TOKEN'), 'Unauthorized', 401, 'ERR_AUTH_INVALID_TOKEN', true],
      [new Forbidden('No.'), 'Forbidden', 403, 'ERR_AUTH_FORBIDDEN', true],
      [new Undecided(cause), 'Undecided', 503, 'ERR_AUTH_UNDECIDED', false],
      [new Misuse('Add a line.'), 'Misuse', 500, 'ERR_AUTH_MISUSE', false],
    ] as const) {
      assert.ok(error instanceof AuthError && error instanceof Error)
      assert.deepEqual([error.name, error.status, error.code, error.expose], [name, status, code, expose])
      assert.match(error.message, /^[A-Z].*\.$/)
    }
    assert.equal(new Undecided(cause).cause, cause)
  })

  test('adds the cause to the stack, because Koa logs only the stack', (t) => {
    const cause = new ReferenceError('userOf is not defined')
    const { stack, message } = new Undecided(cause)
    assert.match(stack ?? '', /^Undecided|^Error/)
    assert.ok(stack?.includes(`because of ${cause.stack}`))
    assert.doesNotMatch(message, /userOf/)

    const driverError = Object.assign(new Error("select * from users where email = 'ada@example.org'"), {
      name: 'DriverException',
    })
    const { NODE_ENV } = process.env
    t.after(() => {
      if (NODE_ENV === undefined) delete process.env.NODE_ENV
      else process.env.NODE_ENV = NODE_ENV
    })
    process.env.NODE_ENV = 'production'
    assert.match(new Undecided(driverError).stack ?? '', /because of DriverException$/)
    assert.doesNotMatch(new Undecided(driverError).stack ?? '', /ada@/)
    const refused = Object.assign(new Error('connect ::1'), { code: 'ECONNREFUSED' })
    assert.match(
      new Undecided(new TypeError('fetch failed', { cause: refused })).stack ?? '',
      /because of TypeError because of Error ECONNREFUSED$/,
    )
    const unknown = new ProviderError('The keys of https://login.example cannot be loaded.')
    assert.match(new Undecided(unknown).stack ?? '', /because of ProviderError: The keys of .* loaded\.$/)
    process.env.NODE_ENV = 'development'
    assert.match(
      new Undecided(new Error('no such table: user')).stack ?? '',
      /because of Error: no such table: user$/,
    )
    assert.doesNotMatch(new Undecided(driverError).message, /ada@/)
  })

  test('carries the headers that belong to its status', () => {
    assert.deepEqual(new Unauthorized().headers, {})
    assert.deepEqual(new Unauthorized(['Basic realm="x"', 'Bearer realm="x"']).headers, {
      'WWW-Authenticate': ['Basic realm="x"', 'Bearer realm="x"'],
    })
    assert.deepEqual(new Undecided(undefined).headers, { 'Retry-After': '5' })
  })
})
