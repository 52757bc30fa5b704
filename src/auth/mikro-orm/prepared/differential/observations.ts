import assert from 'node:assert/strict'
import { type EntityManager, helper, type MikroORM } from '@mikro-orm/core'
import type { Application, Key, Request } from './application.ts'
import { serialisationsOf, stateOf } from './state.ts'

/** The entity's JSON before a handler requests the entity manager, and its JSON and state afterwards. */
export async function observeSerialisation(request: Request): Promise<unknown> {
  const found = await findOrFail(request)
  const before = serialisationsOf(found)
  const em = request.manager()
  const { __loadedProperties: loaded, __managed: isManaged } = helper(found)
  return {
    before,
    after: serialisationsOf(found),
    state: stateOf(found),
    snapshot: snapshotOf(found),
    loaded: [...loaded].sort(),
    isManaged,
    schema: helper(found).getSchema(),
    manager: helper(found).__em === em,
    map: [...em.getUnitOfWork().getIdentityMap().keys()].sort(),
  }
}

/** The snapshot for a flush. Relations are left out, because SQLite returns a bigint key as a number or as text. */
function snapshotOf(entity: object): unknown {
  const { __originalEntityData: data = {}, __meta: meta } = helper(entity)
  const isColumn = (name: string) => !meta.relations.some((relation) => relation.name === name)
  return Object.fromEntries(Object.entries(data).filter(([name]) => isColumn(name)))
}

/** The statements of a flush without a change, and of a flush after a change. */
export async function observeFlush(
  request: Request,
  orm: MikroORM,
  { change }: Application,
): Promise<unknown> {
  const found = await findOrFail(request)
  const em = request.manager()
  const [unchanged, changed] = await statementsOf(orm, em, [() => {}, () => change(found)])
  return { unchanged, changed, state: stateOf(found) }
}

/** Which objects are identical, and the statements of a flush, if the entity changes before the manager is requested. */
export async function observeIdentity(
  request: Request,
  orm: MikroORM,
  application: Application,
): Promise<unknown> {
  const { change, lookUpOptions } = application
  const found = await findOrFail(request)
  change(found)
  const again = await request.find()
  const em = request.manager()
  const key = helper(found).getPrimaryKey() as never
  const byKey = await settle(() => em.findOne<object>(lookUpOptions.model, key))
  const owner = lookUpOptions.relation === undefined ? undefined : Reflect.get(found, lookUpOptions.relation)
  return {
    again: again === found,
    byKey: byKey === found,
    reference: em.getReference<object>(lookUpOptions.model, key) === found,
    owner: owner === (again && lookUpOptions.relation && Reflect.get(again, lookUpOptions.relation)),
    state: stateOf(found),
    changed: await statementsOf(orm, em, [() => {}]),
  }
}

/** The results of `refresh`, `populate`, `assign` and `remove` of the entity manager. */
export async function observeManager(
  request: Request,
  orm: MikroORM,
  { lookUpOptions }: Application,
): Promise<unknown> {
  const found = await findOrFail(request)
  const em = request.manager()
  const refreshed = await settle(() => em.refresh(found))
  const populate = (lookUpOptions.relation === undefined ? [] : [lookUpOptions.relation]) as never
  await em.populate<object>([found], populate)
  const state = stateOf(found)
  const [assigned, removed] = await statementsOf(orm, em, [
    () => em.assign(found, { label: 'tablet' } as never),
    () => em.remove(found),
  ])
  return { refreshed: refreshed === found, state, assigned, removed }
}

/** The result for an unknown value. */
export async function observeMissing(request: Request, value: Key): Promise<unknown> {
  return settle(() => request.find(typeof value === 'number' ? value + 1 : `${value.slice(0, -1)}0`))
}

async function findOrFail(request: Request): Promise<object> {
  return (await request.find()) ?? assert.fail('The row was not found.')
}

/** The result of an asynchronous call, or its error. */
export async function settle<T>(call: () => Promise<T>): Promise<T | { threw: string; prototype: unknown }> {
  try {
    return await call()
  } catch (error) {
    return { threw: String(error), prototype: Object.getPrototypeOf(error) }
  }
}

/** The statements of a flush after each change, in a transaction that is rolled back. */
async function statementsOf(
  orm: MikroORM,
  em: EntityManager,
  changes: readonly (() => unknown)[],
): Promise<unknown[]> {
  await em.begin()
  const flushes: unknown[] = []
  for (const change of changes) {
    change()
    const { statements, stop } = recordStatements(orm)
    const result = await settle(() => em.flush())
    stop()
    flushes.push({ statements, result })
  }
  await em.rollback()
  return flushes
}

/** Records the statements of the connection for writes. */
export function recordStatements(orm: MikroORM): { statements: unknown[]; stop: () => void } {
  const statements: unknown[] = []
  const connection = orm.em.getDriver().getConnection('write')
  const { execute } = connection as unknown as { execute(...args: unknown[]): Promise<unknown> }
  connection.execute = (async (sql: string, params: unknown, ...rest: unknown[]) => {
    statements.push([sql, params])
    return execute.call(connection, sql, params, ...rest)
  }) as never
  return { statements, stop: () => void Reflect.deleteProperty(connection, 'execute') }
}
