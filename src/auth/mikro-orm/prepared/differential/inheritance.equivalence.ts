import { after, describe, it } from 'node:test'
import { defineEntity, type EntityManager, p } from '@mikro-orm/core'
import { compareWithFindOne } from './compare-with-find-one.ts'
import { dropDatabases } from './open-database.ts'
import { insert, type Model, peopleOf, tokensOf } from './people.ts'

after(dropDatabases)

const columns = { id: p.integer().primary(), name: p.string() }

describe('P1 LookUp and em.findOne agree: inheritance', () => {
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
  it('single table: relation to an abstract root', (t) => {
    const { schemas, Person, Admin } = singleTable({ abstract: true })
    const Token = tokensOf(Person)
    const app = peopleOf(Person, Token, { fill: (em) => fill(em, Admin, Token, { level: 3 }) })
    return compareWithFindOne(t, 'findOne', { ...app, entities: [...schemas, Token] })
  })
  it('table per type', (t) => {
    const Person = defineEntity({ name: 'Person', inheritance: 'tpt', properties: columns })
    class PersonClass extends Person.class {}
    Object.defineProperty(PersonClass, 'name', { value: 'Person' })
    Person.setClass(PersonClass)
    const Admin = defineEntity({ name: 'Admin', extends: Person, properties: { level: p.integer() } })
    class AdminClass extends Admin.class {}
    Object.defineProperty(AdminClass, 'name', { value: 'Admin' })
    Admin.setClass(AdminClass)
    const Token = tokensOf(PersonClass as Model)
    const variation = {
      entities: [AdminClass as Model],
      fill: (em: EntityManager) => fill(em, AdminClass as Model, Token, { level: 3 }),
    }
    return compareWithFindOne(t, 'findOne', peopleOf(PersonClass as Model, Token, variation))
  })
})
