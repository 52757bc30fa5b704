import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { EntityManager, MikroORM } from '@mikro-orm/core'
import { preparedRequestTo } from '../../../testing/request-to.ts'
import { entityManager } from '../../databases.ts'
import { KeyLookUp } from '../../key-look-up.ts'
import { LookUp } from '../../look-up.ts'
import type { LookUpOptions } from '../../look-ups.ts'
import type { Application, Key, Request, Strategy } from './application.ts'
import {
  observeFlush,
  observeIdentity,
  observeManager,
  observeMissing,
  observeSerialisation,
  settle,
} from './observations.ts'
import { openDatabase } from './open-database.ts'
import { people, type Variation } from './people.ts'
import { stateOf } from './state.ts'

/** Compares look-ups by token of variations of the plain models. */
export async function compare(t: TestContext, strategy: Strategy, ...variations: Variation[]): Promise<void> {
  for (const each of variations) await compareWithFindOne(t, strategy, people(each))
}

/** Asserts that a look-up has the same results as `em.findOne` and uses this strategy. */
export async function compareWithFindOne(
  t: TestContext,
  strategy: Strategy,
  application: Application,
): Promise<void> {
  const { entities, fill, later, options, prepare, value } = application
  const orm = await openDatabase(t, { entities: [...entities], ...options }, application.create)
  await fill(orm.em.fork(), orm, entities)
  await prepare?.(orm)
  const { lookUpOptions, byKey } = application
  const lookUp = byKey === undefined ? new LookUp(lookUpOptions) : new KeyLookUp(lookUpOptions.model)
  const byLookUp = () => lookUpRequest(orm, lookUp as LookUp<object>, byKey ?? value)
  const byFindOne = () => findOneRequest(orm, lookUpOptions, value)
  // The first look-up records the query.
  await settle(() => byLookUp().find())
  await later?.(orm)

  const count = countFindOne(t, orm)
  const found = await settle(() => byLookUp().find())
  const calls = count()
  assert.deepEqual(stateOf(found), stateOf(await settle(() => byFindOne().find())))
  assert.equal(kindOf(found), application.finds ?? 'an entity')
  assert.equal(calls === 0 ? 'prepared' : 'findOne', strategy, 'The look-up uses another strategy.')
  // Both sides have used `em.findOne`.
  if (strategy === 'findOne') return

  assert.deepEqual(await observeMissing(byLookUp(), byKey ?? value), await observeMissing(byFindOne(), value))
  if (kindOf(found) === 'an entity')
    for (const observe of [observeSerialisation, observeFlush, observeIdentity, observeManager])
      assert.deepEqual(
        await observe(byLookUp(), orm, application),
        await observe(byFindOne(), orm, application),
        observe.name,
      )
  await observeBatch(byLookUp, found)
}

export function lookUpRequest(orm: MikroORM, lookUp: LookUp<object>, value: Key): Request {
  const ctx = preparedRequestTo(orm)
  return {
    find: (key = value) => lookUp.find(ctx, key),
    manager: () => entityManager(ctx),
  }
}

export function findOneRequest(
  orm: MikroORM,
  { model, property, relation }: LookUpOptions,
  value: Key,
): Request {
  const em = orm.em.fork()
  const populate = (relation === undefined ? [] : [relation]) as never
  return {
    async find(key = value) {
      const where = { [property]: key } as object
      try {
        return (await em.findOne<object>(model, where, { populate, cache: false })) ?? undefined
      } catch (error) {
        // A look-up does not find a value that the column cannot contain.
        if (/^22/.test(String(Reflect.get(Object(error), 'code')))) return undefined
        throw error
      }
    },
    manager: () => em,
  }
}

function countFindOne(t: TestContext, { em }: MikroORM): () => number {
  const { mock } = t.mock.method(Object.getPrototypeOf(em) as EntityManager, 'findOne')
  return () => mock.callCount()
}

/** Asserts that the look-ups of one event-loop turn return a separate object to each request. */
async function observeBatch(byLookUp: () => Request, expected: unknown): Promise<void> {
  const all = await Promise.all(
    [byLookUp(), byLookUp(), byLookUp()].map((request) => settle(() => request.find())),
  )
  for (const found of all) assert.deepEqual(stateOf(found), stateOf(expected))
  if (expected) assert.equal(new Set(all).size, all.length, 'Two requests share an object.')
}

function kindOf(found: object | undefined) {
  if (!found) return 'nothing'
  return 'threw' in found ? 'an error' : 'an entity'
}
