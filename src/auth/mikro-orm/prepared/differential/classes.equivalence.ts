import { after, describe, it, type TestContext } from 'node:test'
import { defineEntity, type OptionalProps, p } from '@mikro-orm/core'
import type { Strategy } from './application.ts'
import { compareWithFindOne } from './compare-with-find-one.ts'
import { dropDatabases } from './open-database.ts'
import { type Model, peopleOf, tokensOf, type Variation } from './people.ts'

after(dropDatabases)

const columns = { id: p.integer().primary(), name: p.string() }

/** Compares `LookUp` with `em.findOne` for a user class. */
function compareOf(t: TestContext, strategy: Strategy, User: Model, variation?: Variation): Promise<void> {
  return compareWithFindOne(t, strategy, peopleOf(User, tokensOf(User), variation))
}

describe('P1 LookUp and em.findOne agree: classes', () => {
  it('methods and getters', (t) => {
    const Schema = defineEntity({ name: 'User', properties: columns })
    class User extends Schema.class {
      declare [OptionalProps]?: 'initial'
      get initial(): string {
        return this.name.slice(0, 1)
      }

      greet(): string {
        return `I am ${this.name}.`
      }
    }
    Schema.setClass(User)
    return compareOf(t, 'prepared', User)
  })
  it('constructor with parameters', (t) => {
    const Schema = defineEntity({ name: 'User', properties: columns })
    class User extends Schema.class {
      constructor(name: string) {
        super()
        this.name = name.trim()
      }
    }
    Schema.setClass(User)
    return compareOf(t, 'prepared', User)
  })
  it('forced constructor, private field', (t) => {
    const Schema = defineEntity({ name: 'User', properties: columns, forceConstructor: true })
    class User extends Schema.class {
      #secret = 'secret'
      get secret(): string {
        return this.#secret
      }
    }
    Schema.setClass(User)
    return compareOf(t, 'findOne', User)
  })
  it('accessor of the class for a column', (t) => {
    const Schema = defineEntity({ name: 'User', properties: { ...columns, mail: p.string() } })
    class User extends Schema.class {}
    Object.defineProperty(User.prototype, 'mail', {
      get(this: { raw: string }) {
        return this.raw
      },
      set(this: { raw: string }, value: string) {
        this.raw = value.toLowerCase()
      },
      configurable: true,
      enumerable: true,
    })
    Schema.setClass(User)
    return compareOf(t, 'findOne', User, { userRow: { mail: 'ADA@example.com' } })
  })
  it('accessor of the class for the primary key', (t) => {
    const Schema = defineEntity({ name: 'User', properties: columns })
    class User extends Schema.class {}
    Object.defineProperty(User.prototype, 'id', {
      get(this: { number: number }) {
        return this.number
      },
      set(this: { number: number }, value: number) {
        this.number = value
      },
      configurable: true,
    })
    Schema.setClass(User)
    return compareOf(t, 'findOne', User)
  })
  it('base class that is not an entity', (t) => {
    class Named {
      get shout(): string {
        return `${Reflect.get(this, 'name')}!`
      }
    }
    class User extends Named {
      declare id: number
      declare name: string
    }
    return compareOf(t, 'prepared', defineEntityOf(User, columns))
  })
  it('abstract base schema with an accessor for a column', (t) => {
    const Base = defineEntity({
      name: 'Base',
      abstract: true,
      properties: { id: p.integer().primary(), nick: p.string() },
    })
    class BaseUser extends Base.class {}
    Object.defineProperty(BaseUser.prototype, 'nick', {
      get(this: { raw: string }) {
        return this.raw
      },
      set(this: { raw: string }, value: string) {
        this.raw = value.toLowerCase()
      },
      configurable: true,
    })
    Base.setClass(BaseUser)
    const Schema = defineEntity({ name: 'User', extends: Base, properties: { name: p.string() } })
    class User extends Schema.class {}
    Schema.setClass(User)
    return compareOf(t, 'prepared', User, { userRow: { nick: 'ADA' } })
  })
  it('mixin', (t) => {
    const Schema = defineEntity({ name: 'User', properties: columns })
    const UpperCase = <Base extends new (...args: never[]) => { name: string }>(base: Base) =>
      Object.defineProperty(
        class extends (base as new () => { name: string }) {
          shout(): string {
            return this.name.toUpperCase()
          }
        },
        'name',
        { value: 'User' },
      )
    class User extends UpperCase(Schema.class as never) {}
    Schema.setClass(User as never)
    return compareOf(t, 'prepared', User as unknown as Model)
  })
})

/** Defines an entity from a class that does not extend the class of a schema. */
function defineEntityOf(type: abstract new () => object, properties: object): Model {
  defineEntity({ class: type as never, properties: properties as never })
  return type as Model
}
