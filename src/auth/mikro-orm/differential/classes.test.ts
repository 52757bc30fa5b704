import { after, describe, it, type TestContext } from 'node:test'
import {
  BaseEntity,
  defineEntity,
  type EntityManager,
  EntityRepository,
  type EventSubscriber,
  type MikroORM,
  type OptionalProps,
  p,
} from '@mikro-orm/core'
import { isAsFindOne, type Way } from './compare.ts'
import { dropDatabases } from './open-database.ts'
import { insert, type Model, model, people, peopleOf, type Special } from './people.ts'

after(dropDatabases)

const columns = { id: p.integer().primary(), name: p.string() }

/** A token model for users of that class. */
function tokensOf(User: Model, properties: object = {}): Model {
  return model('Token', {
    ...{ id: p.integer().primary(), value: p.string(), label: p.string() },
    user: () => p.manyToOne(User),
    ...properties,
  })
}

/** Asserts it of users of that class, and of the look-up that it takes that way. */
function isFoundOf(t: TestContext, way: Way, User: Model, special?: Special): Promise<void> {
  return isAsFindOne(t, way, peopleOf(User, tokensOf(User), special))
}

const isFound = (t: TestContext, way: Way, special: Special) => isAsFindOne(t, way, people(special))

describe('LookUp, of classes, finds as em.findOne does', () => {
  it('schema without a class', (t) => {
    const Schema = defineEntity({ name: 'User', properties: columns })
    const User = Schema.class as Model
    const Token = tokensOf(User)
    return isAsFindOne(t, 'prepared', { ...peopleOf(User, Token), entities: [Schema, Token] })
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
    return isFoundOf(t, 'prepared', User)
  })
  it('own toJSON', (t) => {
    const Schema = defineEntity({ name: 'User', properties: columns })
    class User extends Schema.class {
      toJSON(): object {
        return { called: this.name }
      }
    }
    Schema.setClass(User)
    return isFoundOf(t, 'prepared', User)
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
    return isFoundOf(t, 'prepared', User)
  })
  it('initialised properties', (t) => {
    const Schema = defineEntity({ name: 'User', properties: { ...columns, motto: p.string().nullable() } })
    class User extends Schema.class {
      override motto = 'none'
      seen = new Set<string>()
    }
    Schema.setClass(User)
    return isFoundOf(t, 'prepared', User)
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
    return isFoundOf(t, 'findOne', User)
  })
  it('forced constructor of the token', (t) =>
    isFound(t, 'findOne', { tokenOptions: { forceConstructor: true } }))
  it('private field', (t) => {
    const Schema = defineEntity({ name: 'User', properties: columns })
    class User extends Schema.class {
      #secret = 'secret'
      get hasSecret(): boolean {
        return #secret in this && this.#secret !== ''
      }
    }
    Schema.setClass(User)
    return isFoundOf(t, 'prepared', User)
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
    return isFoundOf(t, 'prepared', User, { userRow: { mail: 'ADA@example.com' } })
  })
  it('accessor of the class for a column that is not persisted', (t) => {
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
    return isFoundOf(t, 'findOne', User)
  })
  it('persisted getter', (t) => {
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
    return isFoundOf(t, 'findOne', User)
  })
  it('getter for a column that is persisted', (t) => {
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
    return isFoundOf(t, 'findOne', User, { userRow: { shout: 'ADA' } })
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
    return isFoundOf(t, 'findOne', User)
  })
  it('base class of JavaScript', (t) => {
    class Named {
      get shout(): string {
        return `${Reflect.get(this, 'name')}!`
      }
    }
    class User extends Named {
      declare id: number
      declare name: string
    }
    defineEntity({ class: User, properties: columns })
    return isFoundOf(t, 'prepared', defineEntityOf(User, columns))
  })
  it('base entity', (t) => {
    class User extends BaseEntity {
      declare id: number
      declare name: string
    }
    return isFoundOf(t, 'prepared', defineEntityOf(User, columns))
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
    return isFoundOf(t, 'prepared', User)
  })
  it('mixin', (t) => {
    const Schema = defineEntity({ name: 'User', properties: columns })
    const Shouting = <Base extends new (...args: never[]) => { name: string }>(base: Base) =>
      Object.defineProperty(
        class extends (base as new () => { name: string }) {
          shout(): string {
            return this.name.toUpperCase()
          }
        },
        'name',
        { value: 'User' },
      )
    class User extends Shouting(Schema.class as never) {}
    Schema.setClass(User as never)
    return isFoundOf(t, 'prepared', User as unknown as Model)
  })
  it('repository', (t) =>
    isFound(t, 'prepared', { userOptions: { repository: () => class extends EntityRepository<object> {} } }))
})

describe('LookUp, of inheritance, finds as em.findOne does', () => {
  const fill = async (em: EntityManager, User: Model, Token: Model, more: object = {}) => {
    em.create(User, { id: 1, name: 'Ada', ...more } as never)
    await em.flush()
    await insert(em, Token, { id: 2, value: 'value', label: 'laptop', user: 1 })
  }
  const singleTable = (options: object = { discriminatorValue: 'person' }) => {
    const Person = defineEntity({
      name: 'Person',
      discriminatorColumn: 'kind',
      properties: columns,
      ...options,
    })
    const Admin = defineEntity({
      ...{ name: 'Admin', extends: Person, discriminatorValue: 'admin' },
      properties: { level: p.integer().nullable() },
    })
    return { schemas: [Person, Admin], Person: Person.class as Model, Admin: Admin.class as Model }
  }
  it('one table, by an abstract root', (t) => {
    const { schemas, Person, Admin } = singleTable({ abstract: true })
    const Token = tokensOf(Person)
    const app = peopleOf(Person, Token, { fill: (em) => fill(em, Admin, Token, { level: 3 }) })
    return isAsFindOne(t, 'findOne', { ...app, entities: [...schemas, Token] })
  })
  it('one table, by a root with rows of its own, of a subclass', (t) => {
    const { schemas, Person, Admin } = singleTable()
    const Token = tokensOf(Person)
    // MikroORM joins only rows of the root itself.
    const app = peopleOf(Person, Token, { finds: 'nothing', fill: (em) => fill(em, Admin, Token) })
    return isAsFindOne(t, 'findOne', { ...app, entities: [...schemas, Token] })
  })
  it('one table, looked up by the key of the root', (t) => {
    const { schemas, Person, Admin } = singleTable()
    return isAsFindOne(t, 'findOne', {
      entities: schemas,
      sought: { model: Person, property: 'id' },
      ...{ value: 1, byKey: '1' },
      fill: (em) => insert(em, Admin, { id: 1, name: 'Ada', kind: 'admin', level: 3 }),
      change: (user) => Object.assign(user, { name: 'Grace' }),
    })
  })
  it('one table, by the subclass', (t) => {
    const { schemas, Admin } = singleTable()
    const Token = tokensOf(Admin)
    const app = peopleOf(Admin, Token, { fill: (em) => fill(em, Admin, Token, { level: 3 }) })
    return isAsFindOne(t, 'findOne', { ...app, entities: [...schemas, Token] })
  })
  it('one table, by another subclass', (t) => {
    const { schemas, Person, Admin } = singleTable()
    const Token = tokensOf(Admin)
    const app = peopleOf(Admin, Token, { finds: 'nothing', fill: (em) => fill(em, Person, Token) })
    return isAsFindOne(t, 'findOne', { ...app, entities: [...schemas, Token] })
  })
  it('table of each type', (t) => {
    const Person = defineEntity({ name: 'Person', inheritance: 'tpt', properties: columns })
    class PersonClass extends Person.class {}
    Object.defineProperty(PersonClass, 'name', { value: 'Person' })
    Person.setClass(PersonClass)
    const Admin = defineEntity({ name: 'Admin', extends: Person, properties: { level: p.integer() } })
    class AdminClass extends Admin.class {}
    Object.defineProperty(AdminClass, 'name', { value: 'Admin' })
    Admin.setClass(AdminClass)
    const Token = tokensOf(PersonClass as Model)
    const special = {
      entities: [AdminClass as Model],
      fill: (em: EntityManager) => fill(em, AdminClass as Model, Token, { level: 3 }),
    }
    return isAsFindOne(t, 'findOne', peopleOf(PersonClass as Model, Token, special))
  })
})

describe('LookUp, of hooks, finds as em.findOne does', () => {
  const mark = ({ entity }: { entity: object }) => void Reflect.set(entity, 'label', 'seen')
  class Marking implements EventSubscriber {
    onLoad = mark
  }
  it('onLoad of the token', (t) => isFound(t, 'findOne', { tokenOptions: { hooks: { onLoad: [mark] } } }))
  it('onInit of the token', (t) => isFound(t, 'findOne', { tokenOptions: { hooks: { onInit: [mark] } } }))
  it('onLoad of the user', (t) => isFound(t, 'findOne', { userOptions: { hooks: { onLoad: [mark] } } }))
  it('onInit of the user', (t) => isFound(t, 'findOne', { userOptions: { hooks: { onInit: [mark] } } }))
  it('beforeUpdate', (t) => isFound(t, 'prepared', { tokenOptions: { hooks: { beforeUpdate: [mark] } } }))
  it('subscriber of the configuration', (t) =>
    isFound(t, 'findOne', { options: { subscribers: [new Marking()] } }))
  it('subscriber to the token after the first look-up', (t) =>
    isFound(t, 'findOne', { later: (orm) => subscribe(orm, 'Token') }))
  it('subscriber to the user after the first look-up', (t) =>
    isFound(t, 'findOne', { later: (orm) => subscribe(orm, 'User') }))
})

/** Adds a subscriber to the loading of an entity. */
function subscribe({ em }: MikroORM, name: string): void {
  const metas = [...em.getMetadata().getAll().values()]
  const classes = metas.filter((meta) => meta.className === name).map((meta) => meta.class as never)
  em.getEventManager().registerSubscriber({
    getSubscribedEntities: () => classes,
    onLoad: ({ entity }) => void Reflect.set(entity, 'name', 'seen'),
  })
}

/** An entity of a class that extends none of MikroORM's. */
function defineEntityOf(type: abstract new () => object, properties: object): Model {
  defineEntity({ class: type as never, properties: properties as never })
  return type as Model
}
