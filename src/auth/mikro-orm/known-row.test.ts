import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import Database from 'better-sqlite3'
import Koa from 'koa'
import { type AuthContext, type AuthMiddleware, auth } from '../auth.ts'
import { openORMWith } from '../testing/open-orm.ts'
import { randomNumbers } from '../testing/random.ts'
import { requestTo } from '../testing/request-to.ts'
import { serve } from '../testing/serve.ts'
import { databases } from './databases.ts'
import { LookUp } from './look-up.ts'
import { SqliteTurn } from './sqlite-turn.ts'
import { ModelTokenAuthenticatable } from './token-model.ts'
import { WalIndex } from './wal-index.ts'

function models() {
  const validity = { of: () => true }
  const UserSchema = defineEntity({
    name: 'User',
    properties: { id: p.integer().primary(), name: p.string() },
  })
  class User extends UserSchema.class {}
  UserSchema.setClass(User)
  const TokenSchema = defineEntity({
    name: 'Token',
    properties: {
      id: p.integer().primary(),
      value: p.string().unique(),
      user: () => p.manyToOne(User).deleteRule('cascade'),
    },
  })
  class Token extends ModelTokenAuthenticatable(TokenSchema.class, { value: 'value', user: 'user' }) {
    get isValid(): boolean {
      return validity.of()
    }
  }
  TokenSchema.setClass(Token)
  return { User, Token, validity }
}

const numbers = [1, 2, 3, 4, 5, 6]

/** A server that tells each of six people their name, by a token of theirs: all ask it together, by connections that it knows. */
async function open(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'known-row-'))
  t.after(() => rm(folder, { recursive: true }))
  const { User, Token, validity } = models()
  const dbName = join(folder, 'people.sqlite')
  const { orm } = await openORMWith(t, { dbName, entities: [User, Token] })
  await orm.em.getConnection().execute('pragma journal_mode = wal')
  for (const id of numbers) {
    await orm.em.fork().insert(User, { id, name: `n${id}` })
    await orm.em.fork().insert(Token, { id, value: `token${id}`, user: id })
  }
  const other = new Database(dbName)
  const client = (await orm.em.getConnection().getNativeClient()) as Database.Database
  const goOn: AuthMiddleware = (_ctx, next) => next()
  const steps = { before: goOn, behind: goOn }
  const app = new Koa<object, AuthContext>()
  app.use(databases(orm))
  app.use(auth())
  app.use((ctx, next) => steps.before(ctx, next))
  app.use(Token.authenticator())
  app.use((ctx, next) => steps.behind(ctx, next))
  app.use((ctx) => {
    ctx.body ??= ctx.auth.get(User)?.name ?? 'nobody'
  })
  const { port } = await serve(t, app)
  const agent = new Agent({ keepAlive: true })
  t.after(() => {
    agent.destroy()
    other.close()
  })
  const answer = (id: number) =>
    new Promise<string>((resolve, reject) => {
      const headers = { authorization: `Bearer token${id}` }
      const read = (response: IncomingMessage) => text(response).then(resolve, reject)
      get({ port, agent, headers }, read).on('error', reject)
    })
  const ask = () => Promise.all(numbers.map(answer))
  // All are connected, and remembered.
  for (let i = 0; i < 3; i += 1) assert.deepEqual(await ask(), ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'])
  return { orm, other, client, User, Token, validity, steps, ask }
}

const names = (name: (id: number) => string = (id) => `n${id}`) => numbers.map(name)

describe('a row that is remembered', () => {
  test('is told at once to all who have come together, for one look at the log', async (t) => {
    const { ask, other, client } = await open(t)
    const looks = t.mock.method(WalIndex.prototype, 'hasChanged')
    const questions = t.mock.method(SqliteTurn.prototype, 'ask')
    for (let round = 1; round <= 3; round += 1) {
      assert.deepEqual(await ask(), names())
      assert.deepEqual([looks.mock.callCount(), questions.mock.callCount()], [round, 0])
    }
    for (const writer of [other, client]) {
      const name = writer === other ? 'by others' : 'by us'
      writer.exec(`update user set name = '${name}'`)
      questions.mock.resetCalls()
      assert.deepEqual(
        await ask(),
        names(() => name),
      )
      assert.equal(questions.mock.callCount(), numbers.length)
      assert.deepEqual(
        await ask(),
        names(() => name),
      )
      assert.equal(questions.mock.callCount(), numbers.length)
    }
  })

  test('is as it is after a request has come, wherever in those before it something was committed (long)', async (t) => {
    const { ask, other, client, orm, Token, steps } = await open(t)
    let left = 0
    const { hasChanged } = WalIndex.prototype
    let round = 0
    let commit = () => {}
    const now = () => {
      left -= 1
      if (left === 0) commit()
    }
    t.mock.method(WalIndex.prototype, 'hasChanged', function (this: WalIndex) {
      const answer = hasChanged.call(this)
      now()
      return answer
    })
    steps.before = (_ctx, next) => {
      now()
      return next()
    }
    steps.behind = async (_ctx, next) => {
      now()
      await orm.em.fork().count(Token)
      now()
      return next()
    }
    for (const writer of [other, client])
      for (let when = 1; when <= 4 * numbers.length; when += 1) {
        round += 1
        const name = `after ${when} (${round})`
        commit = () => writer.exec(`update user set name = '${name}'`)
        left = 0
        for (let i = 0; i < 2; i += 1) await ask()
        const before = await ask()
        left = when
        for (const [i, answer] of (await ask()).entries()) assert.ok([before[i], name].includes(answer), name)
        if (left > 0) commit()
        left = 0
        assert.deepEqual(
          await ask(),
          names(() => name),
          name,
        )
      }
  })

  test('is nobody any more for a request that has deleted it itself, whoever comes with it', async (t) => {
    const { ask, orm, client, Token, steps } = await open(t)
    const tokens = new LookUp({ model: Token, property: 'value', relation: 'user' })
    const value = (ctx: AuthContext) => ctx.get('authorization').slice('Bearer '.length)
    const find = async (ctx: AuthContext) => ((await tokens.find(ctx, value(ctx))) ? 'still there' : 'nobody')
    const deletions = new Map<string, (ctx: AuthContext) => unknown>([
      ['token1', (ctx) => orm.em.fork().nativeDelete(Token, { value: value(ctx) })],
      ['token2', (ctx) => client.exec(`delete from token where value = '${value(ctx)}'`)],
    ])
    // Remembered here, too.
    steps.behind = async (ctx) => {
      ctx.body = await find(ctx)
    }
    for (let i = 0; i < 3; i += 1)
      assert.deepEqual(
        await ask(),
        names(() => 'still there'),
      )
    // Behind what has found it: without waiting, if it can.
    steps.behind = (ctx) => {
      const deletion = deletions.get(value(ctx))?.(ctx)
      const answer = async () => {
        ctx.body = await find(ctx)
      }
      return deletion instanceof Promise ? deletion.then(answer) : answer()
    }
    assert.deepEqual(
      await ask(),
      names((id) => (id <= 2 ? 'nobody' : 'still there')),
    )
    steps.behind = (_ctx, next) => next()
    for (const id of [1, 2]) await orm.em.fork().insert(Token, { id, value: `token${id}`, user: id })
    for (let i = 0; i < 2; i += 1) assert.deepEqual(await ask(), names())
    // Before it is asked for at all, while the others are told at once.
    steps.before = (ctx, next) =>
      value(ctx) < 'token6'
        ? next()
        : orm.em
            .fork()
            .nativeDelete(Token, { value: value(ctx) })
            .then(next)
    assert.deepEqual(
      await ask(),
      names((id) => (id === 6 ? 'nobody' : `n${id}`)),
    )
  })

  test('is nobody any more for a request that comes after a commit, whoever it comes among', async (t) => {
    const { ask, client, orm, Token, steps } = await open(t)
    const tokens = new LookUp({ model: Token, property: 'value', relation: 'user' })
    await tokens.find(requestTo(orm), 'token6')
    let late: unknown
    steps.behind = (ctx, next) => {
      // The others have been told by now, in the same turn, and nothing has been waited for.
      if (ctx.auth.get(Token)?.id === numbers.at(-1)) {
        client.exec("delete from token where value = 'token6'")
        late = tokens.find(requestTo(orm), 'token6')
      }
      return next()
    }
    assert.deepEqual(await ask(), names())
    assert.ok(late instanceof Promise)
    assert.equal(await late, undefined)
  })

  test('does not count where what is made of it fails, and counts again when it does not', async (t) => {
    const { ask, validity } = await open(t)
    validity.of = () => {
      throw new Error('of their own')
    }
    assert.deepEqual(
      await ask(),
      names(() => 'Service Unavailable'),
    )
    validity.of = () => true
    assert.deepEqual(await ask(), names())
  })

  test('is right in 300 rounds of writes by two connections and the entity manager (long)', async (t) => {
    const { ask, other, client, orm, User, Token } = await open(t)
    const random = randomNumbers()
    const truth = new Map(numbers.map((id) => [id, `n${id}`]))
    const absent = new Set<number>()
    for (let round = 0; round < 300; round += 1) {
      const id = 1 + random(numbers.length)
      const name = `round ${round}`
      if (random(3) === 0) {
        if (absent.delete(id))
          other.exec(`insert into token (id, value, user_id) values (${id}, 'token${id}', ${id})`)
        else {
          absent.add(id)
          if (random(2)) await orm.em.fork().nativeDelete(Token, id)
          else client.exec(`delete from token where id = ${id}`)
        }
      } else {
        truth.set(id, name)
        if (random(2)) await orm.em.fork().nativeUpdate(User, id, { name })
        else [other, client][random(2)]?.exec(`update user set name = '${name}' where id = ${id}`)
      }
      const expected = names((each) => (absent.has(each) ? 'nobody' : (truth.get(each) ?? '')))
      for (let i = 0; i < 1 + random(3); i += 1) assert.deepEqual(await ask(), expected, name)
    }
  })

  test('is asked for in the usual way where this is no moment to tell, and told at once when it is again', async (t) => {
    const { ask, orm, other } = await open(t)
    const questions = t.mock.method(SqliteTurn.prototype, 'ask')
    const connection: { assertReadable?(): void } & object = orm.em.getConnection()
    connection.assertReadable = () => {
      throw new Error('not now')
    }
    assert.deepEqual(await ask(), names())
    assert.equal(questions.mock.callCount(), numbers.length)
    delete connection.assertReadable
    for (let i = 0; i < 3; i += 1) assert.deepEqual(await ask(), names())
    questions.mock.resetCalls()
    assert.deepEqual(await ask(), names())
    assert.equal(questions.mock.callCount(), 0)
    await orm.close()
    other.exec("update user set name = 'Grace'")
    for (let i = 0; i < 3; i += 1)
      assert.deepEqual(
        await ask(),
        names(() => 'Grace'),
        'by a connection that is opened anew',
      )
  })
})
