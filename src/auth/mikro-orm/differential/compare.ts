import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import {
  type CreateSchemaOptions,
  type EntityClass,
  type EntityManager,
  type EntitySchema,
  helper,
  type MikroORM,
} from '@mikro-orm/core'
import { requestTo } from '../../testing/request-to.ts'
import { entityManager } from '../databases.ts'
import type { Sought } from '../index.ts'
import { KeyLookUp } from '../key-look-up.ts'
import { LookUp } from '../look-up.ts'
import { type AnyOptions, openDatabase } from './open-database.ts'
import { answersOf, pictureOf } from './picture.ts'

/** How a look-up asks the database: by a prepared statement, or by `em.findOne`. */
export type Way = 'prepared' | 'findOne'

/** A value that is looked up. */
type Key = string | number

/** An application whose entities are looked up in both ways. */
export interface Application {
  readonly entities: readonly (EntityClass<object> | EntitySchema)[]
  readonly sought: Sought
  readonly value: Key
  /** Finds by the primary key, given as text, with `KeyLookUp`. */
  readonly byKey?: string | undefined
  /** What both ways come to, if that is no entity. */
  readonly finds?: 'an entity' | 'nothing' | 'an error'
  /** Inserts the rows. */
  fill(em: EntityManager, orm: MikroORM, entities: Application['entities']): Promise<unknown>
  /** Changes the entity, for a flush. */
  change(found: object): void
  readonly options?: AnyOptions | undefined
  /** Options of the schema generator. */
  readonly create?: CreateSchemaOptions
  /** Something that the application does before the first look-up. */
  prepare?(orm: MikroORM): unknown
  /** Something that it does after the first look-up. */
  later?(orm: MikroORM): unknown
}

/** One way to find, in one request. */
interface Request {
  find(value?: Key): Promise<object | undefined>
  /** The entity manager of the request, which handlers use. */
  manager(): EntityManager
}

/** Asserts that `LookUp` and `em.findOne` agree in everything, and that the look-up takes that way. */
export async function isAsFindOne(t: TestContext, way: Way, application: Application): Promise<void> {
  const { entities, fill, later, options, prepare, value } = application
  const orm = await openDatabase(t, { entities: [...entities], ...options }, application.create)
  await fill(orm.em.fork(), orm, entities)
  await prepare?.(orm)
  const { sought, byKey } = application
  const lookUp = byKey === undefined ? new LookUp(sought) : new KeyLookUp(sought.model)
  const ours = () => ourRequest(orm, lookUp as LookUp<object>, byKey ?? value)
  const usual = () => usualRequest(orm, sought, value)
  // The first look-up records the query.
  await settle(() => ours().find())
  await later?.(orm)

  const count = countFindOne(t, orm)
  const found = await settle(() => ours().find())
  const calls = count()
  assert.deepEqual(pictureOf(found), pictureOf(await settle(() => usual().find())))
  assert.equal(kindOf(found), application.finds ?? 'an entity')
  assert.equal(calls === 0 ? 'prepared' : 'findOne', way, 'The look-up takes another way.')

  assert.deepEqual(await observeMissing(ours(), byKey ?? value), await observeMissing(usual(), value))
  if (kindOf(found) === 'an entity')
    for (const observe of [observeAnswers, observeFlush, observeIdentity, observeManager])
      assert.deepEqual(
        await observe(ours(), orm, application),
        await observe(usual(), orm, application),
        observe.name,
      )
  await observeBatch(ours, found)
}

function ourRequest(orm: MikroORM, lookUp: LookUp<object>, value: Key): Request {
  const ctx = requestTo(orm)
  return {
    find: (sought = value) => lookUp.find(ctx, sought),
    manager: () => entityManager(ctx),
  }
}

function usualRequest(orm: MikroORM, { model, property, relation }: Sought, value: Key): Request {
  const em = orm.em.fork()
  const populate = (relation === undefined ? [] : [relation]) as never
  return {
    async find(sought = value) {
      return (await em.findOne<object>(model, { [property]: sought } as object, { populate })) ?? undefined
    },
    manager: () => em,
  }
}

function kindOf(found: object | undefined) {
  if (!found) return 'nothing'
  return 'threw' in found ? 'an error' : 'an entity'
}

async function findOrFail(request: Request): Promise<object> {
  return (await request.find()) ?? assert.fail('The row is found only at times.')
}

/** The result of an asynchronous call, or its error. */
async function settle<T>(call: () => Promise<T>): Promise<T | { threw: string; prototype: unknown }> {
  try {
    return await call()
  } catch (error) {
    return { threw: String(error), prototype: Object.getPrototypeOf(error) }
  }
}

/** Counts the calls of `em.findOne`. */
function countFindOne(t: TestContext, { em }: MikroORM): () => number {
  const { mock } = t.mock.method(Object.getPrototypeOf(em) as EntityManager, 'findOne')
  return () => mock.callCount()
}

/** What is answered before and after a handler asks for the entity manager. */
async function observeAnswers(request: Request): Promise<unknown> {
  const found = await findOrFail(request)
  const before = answersOf(found)
  const em = request.manager()
  const { __loadedProperties: loaded, __managed: isManaged } = helper(found)
  return {
    before,
    after: answersOf(found),
    picture: pictureOf(found),
    snapshot: snapshotOf(found),
    loaded: [...loaded].sort(),
    isManaged,
    schema: helper(found).getSchema(),
    manager: helper(found).__em === em,
    map: [...em.getUnitOfWork().getIdentityMap().keys()].sort(),
  }
}

/** The values that a flush compares with. Of a bigint key SQLite has now a number, now a text, and both compare equal. */
function snapshotOf(entity: object): unknown {
  const { __originalEntityData: data = {}, __meta: meta } = helper(entity)
  const isColumn = (name: string) => !meta.relations.some((relation) => relation.name === name)
  return Object.fromEntries(Object.entries(data).filter(([name]) => isColumn(name)))
}

/** The statements of a flush without a change, and of one after a change. */
async function observeFlush(request: Request, orm: MikroORM, { change }: Application): Promise<unknown> {
  const found = await findOrFail(request)
  const em = request.manager()
  const unchanged = await statementsOf(orm, em)
  change(found)
  return { unchanged, changed: await statementsOf(orm, em), picture: pictureOf(found) }
}

/** Which objects are the same one, and the statements of a change that came before the entity manager. */
async function observeIdentity(request: Request, orm: MikroORM, application: Application): Promise<unknown> {
  const { change, sought } = application
  const found = await findOrFail(request)
  change(found)
  const again = await request.find()
  const em = request.manager()
  const key = helper(found).getPrimaryKey() as never
  const byKey = await settle(() => em.findOne<object>(sought.model, key))
  const owner = sought.relation === undefined ? undefined : Reflect.get(found, sought.relation)
  return {
    again: again === found,
    byKey: byKey === found,
    reference: em.getReference<object>(sought.model, key) === found,
    owner: owner === (again && sought.relation && Reflect.get(again, sought.relation)),
    picture: pictureOf(found),
    changed: await statementsOf(orm, em),
  }
}

/** The results of the entity manager's other methods. */
async function observeManager(request: Request, orm: MikroORM, { sought }: Application): Promise<unknown> {
  const found = await findOrFail(request)
  const em = request.manager()
  const refreshed = await settle(() => em.refresh(found))
  const populate = (sought.relation === undefined ? [] : [sought.relation]) as never
  await em.populate<object>([found], populate)
  const picture = pictureOf(found)
  em.assign(found, { label: 'tablet' } as never)
  const assigned = await statementsOf(orm, em)
  em.remove(found)
  return {
    ...{ refreshed: refreshed === found, picture, assigned },
    removed: await statementsOf(orm, em),
  }
}

/** What is found by a value of no row. */
async function observeMissing(request: Request, value: Key): Promise<unknown> {
  return settle(() => request.find(typeof value === 'number' ? value + 1 : `${value.slice(0, -1)}0`))
}

/** Look-ups of one turn of the event loop: each request has its own object. */
async function observeBatch(ours: () => Request, expected: unknown): Promise<void> {
  const all = await Promise.all([ours(), ours(), ours()].map((request) => settle(() => request.find())))
  for (const found of all) assert.deepEqual(pictureOf(found), pictureOf(expected))
  const [first, second] = all
  if (first) assert.notEqual(first, second, 'Two requests share an object.')
}

/** The statements that a flush writes. They are rolled back. */
async function statementsOf(orm: MikroORM, em: EntityManager): Promise<unknown> {
  const written: unknown[] = []
  const connection = orm.em.getDriver().getConnection('write')
  const { execute } = connection as unknown as { execute(...args: unknown[]): Promise<unknown> }
  await em.begin()
  connection.execute = (async (sql: string, params: unknown, ...rest: unknown[]) => {
    written.push([sql, params])
    return execute.call(connection, sql, params, ...rest)
  }) as never
  try {
    await em.flush()
    return written
  } catch (error) {
    return { threw: String(error), written }
  } finally {
    Reflect.deleteProperty(connection, 'execute')
    await em.rollback()
  }
}
