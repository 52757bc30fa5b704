import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type EntityMaker, entityMaker, type Field } from './entity-maker.ts'

const asIs = (value: unknown) => value
const field = (name: string, convert: Field['convert'] = asIs): Field => ({ name, convert })

/** As MikroORM leaves the prototype of a model: whoever assigns a property calls its setter. */
class Person {
  readonly name: unknown

  set pet(_: unknown) {
    assert.fail('nothing is assigned')
  }

  get greeting() {
    return `I am ${this.name}`
  }
}

describe('entityMaker', () => {
  test('makes an instance of the class with properties of its own, and calls neither a constructor nor a setter', () => {
    const make = entityMaker(Person.prototype, [field('name'), field('pet')], undefined)
    const ada = make(['Ada', 'cat'], 0)
    assert.ok(ada instanceof Person)
    assert.equal(Object.getPrototypeOf(ada), Person.prototype)
    assert.equal(ada.greeting, 'I am Ada')
    assert.deepEqual(Object.entries(ada), [
      ['name', 'Ada'],
      ['pet', 'cat'],
    ])
    const own = { value: 'cat', writable: true, enumerable: true, configurable: true }
    assert.deepEqual(Object.getOwnPropertyDescriptor(ada, 'pet'), own)
  })

  test('takes its columns from where they begin, converts each by its own, and puts the owner in the place of the key', () => {
    const owner = { id: 7 }
    const make = entityMaker(
      Person.prototype,
      [
        field('name', (value) => `${value}!`),
        field('owner'),
        field('born', (value) => new Date(Number(value))),
      ],
      'owner',
    )
    assert.deepEqual(Object.entries(make(['not this', 'Ada', 7, 1000], 1, owner)), [
      ['name', 'Ada!'],
      ['owner', owner],
      ['born', new Date(1000)],
    ])
  })

  test('keeps entities apart where a conversion makes another one, and fails', () => {
    const makers: EntityMaker[] = []
    const make = entityMaker(
      Person.prototype,
      [
        field('friend', (value) => {
          if (value === 'nobody') throw new Error('There is nobody.')
          return typeof value === 'string' ? makers[0]?.([1, value], 0) : value
        }),
        field('name'),
      ],
      undefined,
    )
    makers.push(make)
    const [friend, name] = Object.values(make(['Grace', 'Ada'], 0))
    assert.deepEqual([Object.values(friend), name], [[1, 'Grace'], 'Ada'])
    assert.throws(() => make(['nobody', 'Ada'], 0), /There is nobody/)
    assert.deepEqual(Object.values(make([2, 'Ada'], 0)), [2, 'Ada'])
  })

  test('takes a name for a name, whatever is in it', () => {
    const names = [
      'first name',
      `"'\`\\`,
      '];process.exit(1)//',
      '\u2028',
      '__proto__',
      'static',
      '#name',
      '0',
    ]
    const fields = names.map((name) => field(name))
    const made = entityMaker(Person.prototype, fields, undefined)([...names], 0)
    assert.equal(Object.getPrototypeOf(made), Person.prototype)
    for (const name of names) assert.equal(Object.getOwnPropertyDescriptor(made, name)?.value, name)
  })
})
