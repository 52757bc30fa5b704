import { after, describe, it, type TestContext } from 'node:test'
import { BaseEntity, defineEntity, EntityRepository, type OptionalProps, p } from '@mikro-orm/core'
import type { Strategy } from './application.ts'
import { compareWithFindOne } from './compare-with-find-one.ts'
import { dropDatabases } from './open-database.ts'
import { type Model, people, peopleOf, tokensOf, type Variation } from './people.ts'

after(dropDatabases)

const columns = { id: p.integer().primary(), name: p.string() }

/** Compares `LookUp` with `em.findOne` for a user class. */
function compareOf(t: TestContext, strategy: Strategy, User: Model, variation?: Variation): Promise<void> {
  return compareWithFindOne(t, strategy, peopleOf(User, tokensOf(User), variation))
}

const compare = (t: TestContext, strategy: Strategy, variation: Variation) =>
  compareWithFindOne(t, strategy, people(variation))

describe('P1 LookUp and em.findOne agree: classes', () => {
  it('schema without a class', (t) => {
    const Schema = defineEntity({ name: 'User', properties: columns })
    const User = Schema.class as Model
    const Token = tokensOf(User)
    return compareWithFindOne(t, 'prepared', { ...peopleOf(User, Token), entities: [Schema, Token] })
  })
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
  it('toJSON of the class', (t) => {
    const Schema = defineEntity({ name: 'User', properties: columns })
    class User extends Schema.class {
      toJSON(): object {
        return { called: this.name }
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
  it('initialised properties', (t) => {
    const Schema = defineEntity({ name: 'User', properties: { ...columns, motto: p.string().nullable() } })
    class User extends Schema.class {
      override motto = 'none'
      seen = new Set<string>()
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
  it('forced constructor of the token', (t) =>
    compare(t, 'findOne', { tokenOptions: { forceConstructor: true } }))
  it('private field', (t) => {
    const Schema = defineEntity({ name: 'User', properties: columns })
    class User extends Schema.class {
      #secret = 'secret'
      get hasSecret(): boolean {
        return #secret in this && this.#secret !== ''
      }
    }
    Schema.setClass(User)
    return compareOf(t, 'prepared', User)
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
  it('accessor of the class for a property that is not persisted', (t) => {
    const Schema = defineEntity({
      name: 'User',
      properties: { ...columns, mail: p.string().persist(false).nullable() },
    })
    class User extends Schema.class {}
    Object.defineProperty(User.prototype, 'mail', {
      get(this: { name: string }) {
        return `${this.name}@example.com`
      },
      configurable: true,
    })
    Schema.setClass(User)
    return compareOf(t, 'findOne', User)
  })
  it('getter for a property that is not persisted', (t) => {
    const Schema = defineEntity({
      name: 'User',
      properties: { ...columns, shout: p.string().getter().persist(false) },
    })
    class User extends Schema.class {}
    Object.defineProperty(User.prototype, 'shout', {
      get(this: { name: string }) {
        return this.name.toUpperCase()
      },
      configurable: true,
    })
    Schema.setClass(User)
    return compareOf(t, 'findOne', User)
  })
  it('getter for a persisted column', (t) => {
    const Schema = defineEntity({
      name: 'User',
      properties: { ...columns, shout: p.string().getter() },
    })
    class User extends Schema.class {}
    Object.defineProperty(User.prototype, 'shout', {
      get(this: { name: string }) {
        return this.name.toUpperCase()
      },
      configurable: true,
    })
    Schema.setClass(User)
    return compareOf(t, 'findOne', User, { userRow: { shout: 'ADA' } })
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
  it('base entity', (t) => {
    class User extends BaseEntity {
      declare id: number
      declare name: string
    }
    return compareOf(t, 'prepared', defineEntityOf(User, columns))
  })
  it('abstract base schema', (t) => {
    const Base = defineEntity({
      name: 'Base',
      abstract: true,
      properties: { id: p.integer().primary(), createdAt: p.datetime().defaultRaw('current_timestamp') },
    })
    const Schema = defineEntity({ name: 'User', extends: Base, properties: { name: p.string() } })
    class User extends Schema.class {}
    Schema.setClass(User)
    return compareOf(t, 'prepared', User)
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
  it('repository', (t) =>
    compare(t, 'prepared', { userOptions: { repository: () => class extends EntityRepository<object> {} } }))
})

/** Defines an entity from a class that does not extend the class of a schema. */
function defineEntityOf(type: abstract new () => object, properties: object): Model {
  defineEntity({ class: type as never, properties: properties as never })
  return type as Model
}
