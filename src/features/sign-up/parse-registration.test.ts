import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { FieldRefusal } from '../../refusal.ts'
import { parseRegistration } from './sign-up.ts'

const password = 'correct horse battery'
const good = { name: 'Ada', email: 'Ada@example.com', password, confirmPassword: password }
// Any UTF-16 code unit.
const anyUnit = fc.nat(0xffff).map((code) => String.fromCharCode(code))

/** The registration in a body, or the errors. */
function parse(body: unknown) {
  try {
    return { registration: parseRegistration({ request: { body } as never }, 'Example') }
  } catch (error) {
    if (error instanceof FieldRefusal && error.status === 400) return { errors: error.errors }
    throw error
  }
}

function failingFields(body: unknown): string[] {
  return parse(body).errors?.map(({ field }) => field) ?? []
}

describe('parseRegistration', () => {
  test('returns the name, the e-mail, its key and the password', () => {
    assert.deepEqual(parse(good), {
      registration: { name: 'Ada', email: 'Ada@example.com', emailKey: 'ada@example.com', password },
    })
  })

  test('trims the name, but not the password or the e-mail', () => {
    const parsed = parse({
      ...good,
      name: ' Ada  L. ',
      password: ` ${password} `,
      confirmPassword: ` ${password} `,
    })

    assert.deepEqual([parsed.registration?.name, parsed.registration?.password], ['Ada  L.', ` ${password} `])
    assert.deepEqual(failingFields({ ...good, email: ' ada@example.com' }), ['email'])
  })

  test('reports a missing confirmation', () => {
    for (const confirmPassword of [undefined, ''])
      assert.deepEqual(parse({ ...good, confirmPassword }), {
        errors: [{ field: 'confirmPassword', detail: 'Repeat the password.' }],
      })
  })

  test('reports passwords that do not match', () => {
    const parsed = parse({ ...good, confirmPassword: 'correct horse cavalry' })

    assert.deepEqual(parsed, {
      errors: [{ field: 'confirmPassword', detail: 'The passwords did not match.' }],
    })
    assert.deepEqual(failingFields({ ...good, confirmPassword: undefined }), ['confirmPassword'])
  })

  test('reports all invalid fields together, each once', () => {
    const body = { name: '  ', email: 'ada', password: 'short', confirmPassword: 'other' }

    assert.deepEqual(failingFields(body), ['name', 'email', 'password', 'confirmPassword'])
  })

  test('reports a field that is not a string', () => {
    const values = [
      undefined,
      null,
      0,
      1,
      true,
      [],
      ['Ada'],
      [password],
      {},
      { $ne: '' },
      new Date(),
      () => '',
      Symbol('x'),
    ]
    for (const value of values) {
      assert.deepEqual(failingFields({ ...good, name: value }), ['name'])
      assert.deepEqual(failingFields({ ...good, email: value }), ['email'])
      assert.deepEqual(failingFields({ ...good, password: value, confirmPassword: value }), ['password'])
    }
  })

  test('treats a body that is not an object as empty', () => {
    for (const body of [undefined, null, '', 'name=Ada', 1, true, [], [good], () => good]) {
      assert.deepEqual(failingFields(body), ['name', 'email', 'password'])
    }
  })

  test('K4 reads only its four fields, and only own properties of the body', () => {
    const more = { id: '1', emailKey: 'eve@example.com', passwordHash: 'x', disabledAt: null, isAdmin: true }

    assert.deepEqual(parse({ ...more, ...good }), parse(good))
    assert.deepEqual(parse(Object.assign(Object.create(null), good)), parse(good))
    assert.deepEqual(failingFields(Object.create(good)), ['name', 'email', 'password'])
    assert.deepEqual(failingFields(JSON.parse(`{ "__proto__": ${JSON.stringify(good)} }`)), [
      'name',
      'email',
      'password',
    ])
  })

  test('K2 throws only client errors for random bodies, and accepts no field of a wrong length', () => {
    const field = fc.oneof(
      fc.string({ unit: anyUnit }),
      fc.constantFrom(password, 'ada@example.com'),
      fc.anything(),
    )
    const body = fc.record(
      { name: field, email: field, password: field, confirmPassword: field },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(body, fc.anything()), (input) => {
        const parsed = parse(input)
        if (!parsed.registration) return parsed.errors.length > 0
        const { name, email, password: accepted } = parsed.registration
        return name.length <= 200 && email.length <= 254 && accepted.length >= 8
      }),
      { numRuns: 2000 },
    )
  })
})
