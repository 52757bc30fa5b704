import { after, describe, it } from 'node:test'
import { defineEntity, type EntityManager, type MikroORM, type OptionalProps, p } from '@mikro-orm/core'
import { compare, compareWithFindOne } from './compare-with-find-one.ts'
import { dropDatabases, execute, isOnPostgres, onlyPostgres } from './open-database.ts'
import { insert, type Model, model, peopleOf, tokensOf } from './people.ts'

after(dropDatabases)

const columns = { id: p.integer().primary(), name: p.string() }

const mark = ({ entity }: { entity: object }) => void Reflect.set(entity, 'label', 'seen')

describe('P1 prepared look-ups and em.findOne agree: classes', () => {
  it('methods, getters, and a constructor with parameters', (t) => {
    const Schema = defineEntity({ name: 'User', properties: columns })
    class User extends Schema.class {
      declare [OptionalProps]?: 'initial'
      constructor(name: string) {
        super()
        this.name = name.trim()
      }

      get initial(): string {
        return this.name.slice(0, 1)
      }

      greet(): string {
        return `I am ${this.name}.`
      }
    }
    Schema.setClass(User)
    return compareWithFindOne(t, 'prepared', peopleOf(User, tokensOf(User)))
  })

  it('uses em.findOne for an accessor of the class for a column or for the primary key', async (t) => {
    for (const name of ['name', 'id']) {
      const Schema = defineEntity({ name: 'User', properties: columns })
      class User extends Schema.class {}
      Object.defineProperty(User.prototype, name, {
        get(this: { raw: string }) {
          return this.raw
        },
        set(this: { raw: unknown }, value: unknown) {
          this.raw = typeof value === 'string' ? value.toLowerCase() : value
        },
        configurable: true,
        enumerable: true,
      })
      Schema.setClass(User)
      await compareWithFindOne(t, 'findOne', peopleOf(User, tokensOf(User)))
    }
  })

  it('uses em.findOne for a forced constructor, and for hooks of loaded entities', (t) =>
    compare(
      t,
      'findOne',
      { userOptions: { forceConstructor: true } },
      { tokenOptions: { hooks: { onLoad: [mark] } } },
      { userOptions: { hooks: { onInit: [mark] } } },
      { options: { subscribers: [{ onLoad: mark }] } },
      { later: ({ em }) => em.getEventManager().registerSubscriber({ onLoad: mark }) },
    ))
  it('hook of an update', (t) =>
    compare(t, 'prepared', { tokenOptions: { hooks: { beforeUpdate: [mark] } } }))
})

describe('P1 prepared look-ups and em.findOne agree: tables', () => {
  it('names that need quotes', (t) =>
    compare(t, 'prepared', {
      userOptions: { tableName: 'Us"er `s' },
      tokenOptions: { tableName: "select 's" },
    }))
  it('JSON of references as objects', (t) =>
    compare(t, 'prepared', { userOptions: { forceObject: true }, tokenOptions: { forceObject: true } }))
  it('long names of columns, which PostgreSQL shortens', (t) => {
    const special = { special: p.string().fieldName(`c${'_long'.repeat(12)}`) }
    const row = { special: 'one' }
    return compare(t, 'prepared', { user: special, token: special, userRow: row, tokenRow: row })
  })
  // PostgreSQL rejects a prepared statement whose columns have changed.
  it('column that is not a property, added later', (t) =>
    compare(t, isOnPostgres ? 'findOne' : 'prepared', {
      later: (orm: MikroORM) => execute(orm, 'alter table token add column extra integer default 1'),
    }))
  it('row-level security', onlyPostgres, (t) =>
    compare(t, 'prepared', {
      tokenOptions: { policies: [{ name: 'all', command: 'all', using: 'true' }] },
    }),
  )
  it('schemas of the configuration and of the entities', onlyPostgres, async (t) => {
    const inApp = { schema: 'app' }
    await compare(t, 'prepared', { userOptions: inApp, tokenOptions: inApp, prepare: addPublic })
    await compare(t, 'prepared', { options: inApp, tokenOptions: { schema: 'keys' } })
    const anySchema = { userOptions: { schema: '*' }, tokenOptions: { schema: '*' }, options: inApp }
    await compare(t, 'findOne', { ...anySchema, create: { includeWildcardSchema: true } })
  })

  it('uses em.findOne for columns with ambiguous names', (t) =>
    compare(
      t,
      'findOne',
      { token: { u1__id: p.integer().fieldName('other') }, tokenRow: { u1__id: 5 } },
      {
        user: { absent: p.string().persist(false).nullable() },
        token: { special: p.string().fieldName('u1__absent') },
        tokenRow: { special: 'one' },
      },
    ))
  it('uses em.findOne for a view', (t) => {
    const view = { view: true, tableName: 'users', expression: 'select * from "person"' }
    const Person = model('Person', { id: p.integer().primary(), name: p.string() })
    const User = model('User', { id: p.integer().primary(), name: p.string() }, view)
    const Token = tokensOf(User, () => p.manyToOne(User).createForeignKeyConstraint(false))
    const fill = async (em: EntityManager) => {
      await insert(em, Person, { id: 1, name: 'Ada' })
      await insert(em, Token, { id: 2, value: 'value', label: 'laptop', user: 1 })
    }
    return compareWithFindOne(t, 'findOne', peopleOf(User, Token, { entities: [Person], fill }))
  })
  it('uses em.findOne for inheritance', async (t) => {
    for (const options of [{ abstract: true, discriminatorColumn: 'kind' }, { inheritance: 'tpt' }]) {
      const Person = defineEntity({ name: 'Person', properties: columns, ...(options as object) })
      const Admin = defineEntity({
        ...{ name: 'Admin', extends: Person, discriminatorValue: 'admin' },
        properties: { level: p.integer() },
      })
      const [PersonClass, AdminClass] = [Person.class, Admin.class] as Model[] as [Model, Model]
      const Token = tokensOf(PersonClass)
      const fill = async (em: EntityManager) => {
        em.create(AdminClass, { id: 1, name: 'Ada', level: 3 } as never)
        await em.flush()
        await insert(em, Token, { id: 2, value: 'value', label: 'laptop', user: 1 })
      }
      const application = peopleOf(PersonClass, Token, { fill })
      await compareWithFindOne(t, 'findOne', { ...application, entities: [Person, Admin, Token] })
    }
  })
})

/** Creates tables with the same names and other rows in the schema `public`. */
async function addPublic(orm: MikroORM): Promise<void> {
  await execute(orm, 'create table public."user" (id int primary key, name text)')
  await execute(orm, 'create table public.token (id int primary key, value text, label text, user_id int)')
  await execute(orm, `insert into public."user" values (1, 'Root')`)
  await execute(orm, `insert into public.token values (1, 'value', 'stolen', 1), (9, 'valu0', 'stolen', 1)`)
}
