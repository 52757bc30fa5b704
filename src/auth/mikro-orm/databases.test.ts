import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineEntity, type EntityManager, p } from '@mikro-orm/core'
import Koa from 'koa'
import { type AuthContext, auth } from '../auth.ts'
import { BasicAuthenticator } from '../basic.ts'
import { openORM } from '../testing/open-orm.ts'
import { serve } from '../testing/serve.ts'
import { databases, entityManager } from './databases.ts'

function users() {
  const UserSchema = defineEntity({
    name: 'User',
    properties: { id: p.integer().primary(), name: p.string() },
  })
  class User extends UserSchema.class {}
  UserSchema.setClass(User)
  return User
}

describe('databases', () => {
  test('creates one entity manager for each request', async (t) => {
    const User = users()
    const { orm } = await openORM(t, User)
    const seen: EntityManager[] = []
    const app = new Koa()
    app.use(databases(orm))
    app.use((ctx) => {
      seen.push(entityManager(ctx), entityManager(ctx), entityManager(ctx, 'default'))
      ctx.body = ''
    })
    const { url } = await serve(t, app)

    await fetch(url)
    await fetch(url)

    assert.equal(seen.length, 6)
    assert.equal(new Set(seen.slice(0, 3)).size, 1)
    assert.equal(new Set(seen).size, 2)
    assert.equal(seen.includes(orm.em), false)
  })

  test('provides the entity manager that manages the logged-in user', async (t) => {
    const User = users()
    const { orm } = await openORM(t, User)
    await orm.em.fork().insert(User, { id: 1, name: 'Ada' })
    class ById extends BasicAuthenticator {
      readonly user = User
      override async authenticate({ username }: { username: string }, ctx: AuthContext) {
        const user = await entityManager(ctx).findOne(User, Number(username))
        if (user) ctx.auth.login(user)
      }
    }
    const app = new Koa<object, AuthContext>()
    app.use(databases(orm))
    app.use(auth())
    app.use(new ById().middleware())
    app.use(async (ctx) => {
      const user = ctx.auth.require(User)
      const same = (await entityManager(ctx).findOneOrFail(User, 1)) === user
      user.name = 'Ada Lovelace'
      await entityManager(ctx).flush()
      ctx.body = same
    })
    const { url } = await serve(t, app)

    const response = await fetch(url, { headers: { authorization: `Basic ${btoa('1:')}` } })

    assert.equal(await response.text(), 'true')
    assert.equal((await orm.em.fork().findOneOrFail(User, 1)).name, 'Ada Lovelace')
  })

  test('forks an entity manager only for a request that uses it', async (t) => {
    const { orm } = await openORM(t, users())
    let forks = 0
    const fork = orm.em.fork.bind(orm.em)
    orm.em.fork = (options) => {
      forks += 1
      return fork(options)
    }
    const app = new Koa()
    app.use(databases(orm))
    app.use((ctx) => {
      if (ctx.path === '/asks') entityManager(ctx)
      ctx.body = ''
    })
    const { url } = await serve(t, app)

    await fetch(url)
    assert.equal(forks, 0)
    await fetch(`${url}/asks`)
    assert.equal(forks, 1)
  })

  test('provides several databases by name, and the default database without a name', async (t) => {
    const User = users()
    const main = await openORM(t, User)
    const archive = await openORM(t, User)
    await main.orm.em.fork().insert(User, { id: 1, name: 'Ada' })
    await archive.orm.em.fork().insert(User, { id: 1, name: 'Ada, long ago' })
    const app = new Koa()
    app.use(databases({ default: main.orm, archive: archive.orm }))
    app.use(async (ctx) => {
      const now = await entityManager(ctx).findOneOrFail(User, 1)
      const then = await entityManager(ctx, 'archive').findOneOrFail(User, 1)
      ctx.body = [now.name, then.name]
    })
    const { url } = await serve(t, app)

    assert.deepEqual(await (await fetch(url)).json(), ['Ada', 'Ada, long ago'])
  })

  test('reports a missing database with the line to add', async (t) => {
    const { orm } = await openORM(t, users())
    const app = new Koa()
    app.use(databases(orm))
    app.use((ctx) => {
      entityManager(ctx, ctx.path.slice(1))
    })
    const { url, errors } = await serve(t, app)

    for (const name of ['archive', 'constructor', '__proto__']) {
      assert.equal((await fetch(`${url}/${name}`)).status, 500)
      const message = `There is no database "${name}": add it to \`app.use(databases({ ${name}: orm }))\`.`
      assert.equal(errors.pop()?.message, message)
    }
  })

  test('throws unless the argument is a MikroORM, or an object of MikroORM instances with `default`', async (t) => {
    const { orm } = await openORM(t, users())
    const mount = databases as unknown as (value?: unknown) => unknown
    for (const wrong of [
      undefined,
      null,
      orm.em,
      Promise.resolve(orm),
      { archive: orm },
      { default: orm, archive: 1 },
    ])
      assert.throws(() => mount(wrong), {
        code: 'ERR_AUTH_MISUSE',
        message: 'Pass a MikroORM: `app.use(databases(await MikroORM.init(options)))`.',
      })
  })
})

describe('entityManager', () => {
  test('reports missing databases() with the line to add', async (t) => {
    const app = new Koa()
    app.use((ctx) => {
      entityManager(ctx)
    })
    const { url, errors } = await serve(t, app)

    const response = await fetch(url)

    assert.equal(response.status, 500)
    assert.equal(await response.text(), 'Internal Server Error')
    assert.equal(
      errors[0]?.message,
      'Add `app.use(databases(orm))` before the first authenticator of a persisted model.',
    )
  })
})
