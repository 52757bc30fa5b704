import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type Constructor,
  defineEntity,
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
})
