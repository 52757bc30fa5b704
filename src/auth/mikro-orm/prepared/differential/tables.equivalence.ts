import { after, describe, it, type TestContext } from 'node:test'
import { type EntityManager, type MikroORM, p } from '@mikro-orm/core'
import type { Strategy } from './application.ts'
import { compareWithFindOne } from './compare-with-find-one.ts'
import { dropDatabases, onlyPostgres, onlySqlite } from './open-database.ts'
import { insert, type Model, model, people, peopleOf, type Variation } from './people.ts'

after(dropDatabases)

/** Compares `LookUp` with `em.findOne` for a variation of the models. */
const compare = (t: TestContext, strategy: Strategy, variation: Variation) =>
  compareWithFindOne(t, strategy, people(variation))

/** Compares `LookUp` with `em.findOne` for the same options in the user and the token model. */
const compareWith = (t: TestContext, strategy: Strategy, options: object) =>
  compare(t, strategy, { userOptions: options, tokenOptions: options })

const execute = ({ em }: MikroORM, sql: string) =>
  (em.getConnection() as unknown as { execute(sql: string): Promise<unknown> }).execute(sql)

describe('P1 LookUp and em.findOne agree: options of tables', () => {
  it('table names that need quotes', (t) =>
    compare(t, 'prepared', {
      userOptions: { tableName: 'Us"er `s' },
      tokenOptions: { tableName: "select 's" },
    }))
  it('JSON of references as objects', (t) => compareWith(t, 'prepared', { forceObject: true }))
  it('row-level security', onlyPostgres, (t) =>
    compare(t, 'prepared', {
      tokenOptions: { policies: [{ name: 'all', command: 'all', using: 'true' }] },
    }),
  )
  it('partitions', onlyPostgres, (t) => {
    const User = model('User', { id: p.integer().primary(), name: p.string() })
    const properties = {
      ...{ id: p.integer().primary(), value: p.string(), label: p.string() },
      user: () => p.manyToOne(User),
    }
    const partitionBy = { type: 'hash', expression: 'id', partitions: 2 }
    return compareWithFindOne(t, 'prepared', peopleOf(User, model('Token', properties, { partitionBy })))
  })
})

describe('P1 LookUp and em.findOne agree: views', () => {
  const fill =
    (User: Model, Row: Model) =>
    async (em: EntityManager): Promise<void> => {
      await insert(em, User, { id: 1, name: 'Ada' })
      await insert(em, Row, { id: 2, value: 'value', label: 'laptop', user: 1 })
    }
  const rows = (User: Model, name: string, options: object = {}) =>
    model(
      name,
      {
        ...{ id: p.integer().primary(), value: p.string(), label: p.string() },
        user: () => p.manyToOne(User),
      },
      options,
    )
  it('view of tokens', (t) => {
    const User = model('User', { id: p.integer().primary(), name: p.string() })
    const Row = rows(User, 'Row')
    const Token = rows(User, 'Token', {
      ...{ view: true, tableName: 'tokens' },
      expression: 'select * from "row"',
    })
    return compareWithFindOne(t, 'findOne', peopleOf(User, Token, { entities: [Row], fill: fill(User, Row) }))
  })
  it('user in a view', (t) => {
    const Person = model('Person', { id: p.integer().primary(), name: p.string() })
    const User = model(
      'User',
      { id: p.integer().primary(), name: p.string() },
      { view: true, tableName: 'users', expression: 'select * from "person"' },
    )
    const Token = model('Token', {
      ...{ id: p.integer().primary(), value: p.string(), label: p.string() },
      user: () => p.manyToOne(User).createForeignKeyConstraint(false),
    })
    const variation = {
      entities: [Person],
      fill: async (em: EntityManager) => {
        await insert(em, Person, { id: 1, name: 'Ada' })
        await insert(em, Token, { id: 2, value: 'value', label: 'laptop', user: 1 })
      },
    }
    return compareWithFindOne(t, 'findOne', peopleOf(User, Token, variation))
  })
})

/** Creates tables with the same names and other rows in the schema `public`. */
async function addPublic(orm: MikroORM): Promise<void> {
  await execute(orm, 'create table if not exists public."user" (id int primary key, name text)')
  await execute(
    orm,
    'create table if not exists public.token (id int primary key, value text, label text, user_id int)',
  )
  await execute(orm, `insert into public."user" values (1, 'Root')`)
  await execute(orm, `insert into public.token values (1, 'value', 'stolen', 1), (9, 'valu0', 'stolen', 1)`)
}

describe('P1 LookUp and em.findOne agree: schemas', () => {
  it('schema of the entities', onlyPostgres, (t) =>
    compare(t, 'prepared', {
      userOptions: { schema: 'app' },
      tokenOptions: { schema: 'app' },
      prepare: addPublic,
    }),
  )
  it('schemas of the configuration and of the token', onlyPostgres, (t) =>
    compare(t, 'prepared', { options: { schema: 'app' }, tokenOptions: { schema: 'keys' } }),
  )
  it('wildcard schema', onlyPostgres, (t) =>
    compare(t, 'findOne', {
      ...{ userOptions: { schema: '*' }, tokenOptions: { schema: '*' }, options: { schema: 'app' } },
      create: { includeWildcardSchema: true },
    }),
  )
  it('schema in SQLite', onlySqlite, (t) => compareWith(t, 'prepared', { schema: 'main' }))
})
