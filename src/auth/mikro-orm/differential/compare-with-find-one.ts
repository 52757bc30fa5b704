import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { EntityManager, MikroORM } from '@mikro-orm/core'
import { requestTo } from '../../testing/request-to.ts'
import { entityManager } from '../databases.ts'
import type { LookUpOptions } from '../index.ts'
import { KeyLookUp } from '../key-look-up.ts'
import { LookUp } from '../look-up.ts'
import type { Application, Key, Request, Way } from './application.ts'
import {
  observeAnswers,
  observeFlush,
  observeIdentity,
  observeManager,
  observeMissing,
  settle,
} from './observations.ts'
import { openDatabase } from './open-database.ts'
import { pictureOf } from './picture.ts'

/** Asserts that `LookUp` and `em.findOne` agree in everything, and that the look-up takes that way. */
export async function compareWithFindOne(t: TestContext, way: Way, application: Application): Promise<void> {
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

function usualRequest(orm: MikroORM, { model, property, relation }: LookUpOptions, value: Key): Request {
  const em = orm.em.fork()
  const populate = (relation === undefined ? [] : [relation]) as never
  return {
    async find(sought = value) {
      return (await em.findOne<object>(model, { [property]: sought } as object, { populate })) ?? undefined
    },
    manager: () => em,
  }
}

/** Counts the calls of `em.findOne`. */
function countFindOne(t: TestContext, { em }: MikroORM): () => number {
  const { mock } = t.mock.method(Object.getPrototypeOf(em) as EntityManager, 'findOne')
  return () => mock.callCount()
}

/** Look-ups of one turn of the event loop: each request has its own object. */
async function observeBatch(ours: () => Request, expected: unknown): Promise<void> {
  const all = await Promise.all([ours(), ours(), ours()].map((request) => settle(() => request.find())))
  for (const found of all) assert.deepEqual(pictureOf(found), pictureOf(expected))
  const [first, second] = all
  if (first) assert.notEqual(first, second, 'Two requests share an object.')
}

function kindOf(found: object | undefined) {
  if (!found) return 'nothing'
  return 'threw' in found ? 'an error' : 'an entity'
}
