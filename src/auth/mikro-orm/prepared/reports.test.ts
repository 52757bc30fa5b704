import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { defineEntity, type EntityManager, type MikroORM, p, Utils } from '@mikro-orm/core'
import Koa from 'koa'
import { auth } from '../../auth.ts'
import { openORM } from '../../testing/open-orm.ts'
import { requestTo } from '../../testing/request-to.ts'
import { serve } from '../../testing/serve.ts'
import { databases, entityManager, type LookUps } from '../databases.ts'
import { LookUp } from '../look-up.ts'
import { prepared } from './index.ts'

/** An ORM with one user, and a function that looks the user up in a new request. */
async function open(t: TestContext, options: object = {}) {
  const Schema = defineEntity({
    name: 'User',
    properties: { id: p.integer().primary(), name: p.string() },
    ...options,
  })
  class User extends Schema.class {}
  Schema.setClass(User)
  const { orm } = await openORM(t, User)
  await orm.em.getConnection().execute("insert into user values (1, 'Ada')")
  const users = new LookUp({ model: User, property: 'name' })
  const lookUps = prepared()
  const find = (ctx = requestTo(orm, { lookUps })) => users.find(ctx, 'Ada')
  return { orm, lookUps, users, find, warnings: warningsOf(t), calls: countFindOne(t, orm) }
}

/** The warnings of the process. Node emits them in the next turn of the event loop. */
function warningsOf(t: TestContext): () => Promise<string[]> {
  const warnings: string[] = []
  const listen = ({ code, message }: Error & { code?: string }) => {
    if (code === 'KOA_AUTH_NOT_PREPARED') warnings.push(message)
  }
  process.on('warning', listen)
  t.after(() => process.off('warning', listen))
  return async () => {
    await new Promise(setImmediate)
    return warnings
  }
}

function countFindOne(t: TestContext, { em }: MikroORM): () => number {
  const { mock } = t.mock.method(Object.getPrototypeOf(em) as EntityManager, 'findOne')
  return () => mock.callCount()
}

describe('prepared', () => {
  it('warns once for each model that it cannot prepare, with the reason', async (t) => {
    const { find, warnings, calls } = await open(t, { forceConstructor: true })
    for (let i = 0; i < 3; i += 1) assert.equal((await find())?.name, 'Ada')
    assert.equal(calls(), 3)
    assert.deepEqual(await warnings(), [
      'Look-ups of User use `em.findOne`, which is slower, because User is not a plain table with one primary key column.',
    ])
  })

  it('warns of nothing if a handler has used the entity manager', async (t) => {
    const { orm, lookUps, find, warnings, calls } = await open(t)
    const ctx = requestTo(orm, { lookUps })
    await find()
    // Recording the query has called it once.
    assert.equal(calls(), 1)
    entityManager(ctx)
    assert.equal((await find(ctx))?.name, 'Ada')
    assert.equal(calls(), 2)
    assert.deepEqual(await warnings(), [])
  })

  it('reports an unexpected error once, and then calls only em.findOne', async (t) => {
    const { orm, find, warnings, calls } = await open(t)
    Reflect.set(orm, 'getMetadata', undefined)
    for (let i = 0; i < 3; i += 1) assert.equal((await find())?.name, 'Ada')
    const reported = await warnings()
    assert.equal(reported.length, 1)
    assert.match(
      reported[0] ?? '',
      /^Look-ups of User use `em\.findOne`, which is slower, because `prepared\(\)` failed with TypeError: .*getMetadata/,
    )
    assert.equal(calls(), 3)
  })

  it('warns of a version of MikroORM that it does not know', async (t) => {
    t.mock.method(Utils, 'getORMVersion', () => '7.99.0')
    const { find, warnings, calls } = await open(t)
    for (let i = 0; i < 3; i += 1) assert.equal((await find())?.name, 'Ada')
    assert.equal(calls(), 3)
    const reported = await warnings()
    assert.equal(reported.length, 1)
    assert.match(reported[0] ?? '', /`prepared\(\)` does not know MikroORM 7\.99\.0/)
  })

  it('rejects a missing call and an option that reads replicas', async (t) => {
    const { orm, lookUps } = await open(t)
    const misuse = { code: 'ERR_AUTH_MISUSE' }
    assert.throws(() => databases(orm, { lookUps: prepared as unknown as LookUps }), misuse)
    assert.throws(() => databases(orm, { lookUps, preferReadReplicas: true }), misuse)
  })

  it('looks up users while a test has replaced the timers', async (t) => {
    const { orm, lookUps, users, calls } = await open(t)
    const app = new Koa()
    app.use(databases(orm, { lookUps }))
    app.use(auth())
    app.use(async (ctx) => {
      ctx.body = (await users.find(ctx, 'Ada'))?.name
    })
    const { url } = await serve(t, app)
    await fetch(url)
    t.mock.timers.enable({ apis: ['setImmediate'] })
    assert.equal(await (await fetch(url)).text(), 'Ada')
    t.mock.timers.reset()
    assert.equal(await (await fetch(url)).text(), 'Ada')
    assert.equal(calls(), 1)
  })
})
