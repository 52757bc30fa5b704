import assert from 'node:assert/strict'
import { type EntityManager, helper, type MikroORM } from '@mikro-orm/core'
import type { Application, Key, Request } from './application.ts'
import { answersOf, pictureOf } from './picture.ts'

/** What is answered before and after a handler asks for the entity manager. */
export async function observeAnswers(request: Request): Promise<unknown> {
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
export async function observeFlush(
  request: Request,
  orm: MikroORM,
  { change }: Application,
): Promise<unknown> {
  const found = await findOrFail(request)
  const em = request.manager()
  const unchanged = await statementsOf(orm, em)
  change(found)
  return { unchanged, changed: await statementsOf(orm, em), picture: pictureOf(found) }
}

/** Which objects are the same one, and the statements of a change that came before the entity manager. */
export async function observeIdentity(
  request: Request,
  orm: MikroORM,
  application: Application,
): Promise<unknown> {
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
export async function observeManager(
  request: Request,
  orm: MikroORM,
  { sought }: Application,
): Promise<unknown> {
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
export async function observeMissing(request: Request, value: Key): Promise<unknown> {
  return settle(() => request.find(typeof value === 'number' ? value + 1 : `${value.slice(0, -1)}0`))
}

async function findOrFail(request: Request): Promise<object> {
  return (await request.find()) ?? assert.fail('The row is found only at times.')
}

/** The result of an asynchronous call, or its error. */
export async function settle<T>(call: () => Promise<T>): Promise<T | { threw: string; prototype: unknown }> {
  try {
    return await call()
  } catch (error) {
    return { threw: String(error), prototype: Object.getPrototypeOf(error) }
  }
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
