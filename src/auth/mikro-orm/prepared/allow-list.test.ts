import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type Constructor,
  defineEntity,
  ObjectHydrator,
  type Options,
  p,
  SqlEntityManager,
  SqliteConnection,
  SqliteDriver,
} from '@mikro-orm/sqlite'
import { openORMWith } from '../../testing/open-orm.ts'
import { preparedRequestTo } from '../../testing/request-to.ts'
import { databasesOf } from '../databases.ts'
import { LookUp } from '../look-up.ts'

function models() {
  const Schema = defineEntity({
    name: 'Token',
    properties: {
      id: p.string().primary(),
      value: p.string(),
      tenant: p.string(),
      weight: p.integer().nullable(),
    },
  })
  class Token extends Schema.class {}
  Schema.setClass(Token)
  return Token
}

const rows = [
  { id: 'one', value: 'value', tenant: 'a' },
  { id: 'two', value: 'value', tenant: 'b' },
]

/** An ORM with these options, and a function that looks up a token. */
async function lookUps(t: Parameters<typeof openORMWith>[0], options: Partial<Options> = {}) {
  const Token = models()
  const { orm } = await openORMWith(t, { entities: [Token], ...options } as Options)
  await orm.em.fork().insertMany(Token, rows)
  const tokens = new LookUp({ model: Token, property: 'value' })
  const find = async () => {
    const request = preparedRequestTo(orm)
    const found = await tokens.find(request, 'value')
    return { found, isPrepared: !databasesOf(request).hasManager() }
  }
  return { orm, Token, find }
}

describe('LookUp with a configuration that can change queries or entities', () => {
  it("calls `findOne` of the application's entity manager for each request", async (t) => {
    let tenant = 'a'
    class TenantManager extends SqlEntityManager {
      override findOne = ((model: never, where: object, options: never) =>
        super.findOne(model, { ...where, tenant } as never, options)) as never
    }
    const { find } = await lookUps(t, { entityManager: TenantManager as never })
    assert.equal((await find()).found?.id, 'one')
    tenant = 'b'
    assert.equal((await find()).found?.id, 'two')
  })

  it("uses the application's hydrator", async (t) => {
    class Reader extends ObjectHydrator {
      override hydrate = ((...[entity, meta, data, ...rest]: Parameters<ObjectHydrator['hydrate']>) => {
        const changed = { ...data, tenant: entity.constructor.name }
        ObjectHydrator.prototype.hydrate.call(this, entity, meta, changed, ...rest)
      }) as never
    }
    const { find } = await lookUps(t, { hydrator: Reader as never })
    assert.equal((await find()).found?.tenant, 'Token')
  })

  it("calls the application's driver and connection", async (t) => {
    class Driver extends SqliteDriver {
      override find = (async (...query: Parameters<SqliteDriver['find']>) => {
        const found = (await SqliteDriver.prototype.find.apply(this, query)) as { tenant: string }[]
        return found.map((row) => ({ ...row, tenant: 'of the driver' }))
      }) as never
    }
    class Connection extends SqliteConnection {
      override execute = (async (...query: Parameters<SqliteConnection['execute']>) => {
        const found: unknown = await SqliteConnection.prototype.execute.apply(this, query)
        return Array.isArray(found) ? found.map((row) => ({ ...row, tenant: 'of the connection' })) : found
      }) as never
    }
    class Connected extends SqliteDriver {
      override readonly connection = new Connection(this.config)
    }
    const { find } = await lookUps(t, { driver: Driver as Constructor<SqliteDriver> })
    assert.equal((await find()).found?.tenant, 'of the driver')
    const connected = await lookUps(t, { driver: Connected as Constructor<SqliteDriver> })
    assert.equal((await connected.find()).found?.tenant, 'of the connection')
  })

  it('uses `em.findOne` if the application overrides a method of the driver, connection or manager', async (t) => {
    class Driver extends SqliteDriver {
      override mergeJoinedResult = ((...parts: Parameters<SqliteDriver['mergeJoinedResult']>) =>
        SqliteDriver.prototype.mergeJoinedResult.apply(this, parts)) as never
    }
    assert.equal(
      (await (await lookUps(t, { driver: Driver as Constructor<SqliteDriver> })).find()).isPrepared,
      false,
    )
    class Connection extends SqliteConnection {
      override createKyselyDialect(options: object) {
        return super.createKyselyDialect(options)
      }
    }
    class Connected extends SqliteDriver {
      override readonly connection = new Connection(this.config)
    }
    assert.equal(
      (await (await lookUps(t, { driver: Connected as Constructor<SqliteDriver> })).find()).isPrepared,
      false,
    )
    const { orm, find } = await lookUps(t)
    const { em } = orm
    const fork = em.fork.bind(em)
    em.fork = (options) => {
      const forked = fork(options)
      forked.addFilter({ name: 'tenant', cond: { tenant: 'b' }, entity: 'Token' } as never)
      return forked
    }
    assert.equal((await find()).found?.id, 'two')
  })

  it("calls the application's mapping of joined columns", async (t) => {
    const Token = models()
    const Schema = defineEntity({
      name: 'Device',
      properties: { id: p.string().primary(), token: () => p.manyToOne(Token) },
    })
    class Device extends Schema.class {}
    Schema.setClass(Device)
    const { orm } = await openORMWith(t, { entities: [Token, Device] })
    const mapJoinedProp = (related: object, property: { name: string }) =>
      Reflect.set(related, property.name, 'of the driver')
    Object.assign(orm.driver, { mapJoinedProp })
    await orm.em.fork().insertMany(Token, rows)
    await orm.em.fork().insert(Device, { id: 'phone', token: 'one' })
    const found = new LookUp({ model: Device, property: 'id', relation: 'token' })
    assert.equal((await found.find(preparedRequestTo(orm), 'phone'))?.token.tenant, 'of the driver')
  })

  it('uses `em.findOne` if MikroORM flushes before each query', async (t) => {
    const { find } = await lookUps(t, { flushMode: 'always' })
    assert.equal((await find()).isPrepared, false)
  })

  it('detects an option that is set later', async (t) => {
    const { orm, find } = await lookUps(t)
    assert.equal((await find()).isPrepared, true)
    orm.config.set('onQuery', (sql) =>
      sql.replace('from `token`', "from (select * from token where id = 'two')"),
    )
    assert.equal((await find()).found?.id, 'two')
  })

  it('calls a filter that reads the options of the query', async (t) => {
    let tenant = 'a'
    const { orm, find } = await lookUps(t, { allowGlobalContext: true })
    const cond = (_args: unknown, _type: string, _em: unknown, options?: { populate?: unknown }) =>
      options?.populate ? { tenant } : {}
    orm.em.addFilter({ name: 'tenant', args: false, cond } as never)
    assert.equal((await find()).found?.id, 'one')
    tenant = 'b'
    assert.equal((await find()).found?.id, 'two')
  })

  it('calls the accessors of the class if MikroORM defines none', async (t) => {
    const Schema = defineEntity({ name: 'User', properties: { id: p.string().primary(), name: p.string() } })
    const Base: abstract new () => { id: string } = Schema.class
    class User extends Base {
      #name = ''
      shown: string | undefined
      get name(): string {
        return this.#name
      }
      set name(name: string) {
        Object.defineProperty(this, 'shown', { value: name.toUpperCase() })
      }
    }
    Schema.setClass(User as never)
    const { orm } = await openORMWith(t, { entities: [User], propagationOnPrototype: false })
    await orm.em.getConnection().execute("insert into user values ('one', 'Ada')")
    const found = await new LookUp({ model: User, property: 'id' }).find(preparedRequestTo(orm), 'one')
    assert.equal(found?.shown, 'ADA')
  })
})

describe('LookUp', () => {
  it("throws MikroORM's error for a number that is not finite", async (t) => {
    const { orm, Token } = await lookUps(t)
    await orm.em.getConnection().execute("update token set weight = 9e999 where id = 'one'")
    const byWeight = new LookUp({ model: Token, property: 'weight' })
    for (const weight of [Infinity, Number.NaN]) {
      await assert.rejects(orm.em.fork().findOne(Token, { weight }), { name: 'InvalidFieldNameException' })
      await assert.rejects(byWeight.find(preparedRequestTo(orm), weight), {
        name: 'InvalidFieldNameException',
      })
    }
  })
})
