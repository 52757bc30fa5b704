import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it, type TestContext } from 'node:test'
import {
  DefaultLogger,
  EntityCaseNamingStrategy,
  EntityRepository,
  ObjectHydrator,
  p,
  UnderscoreNamingStrategy,
} from '@mikro-orm/core'
import type { Strategy } from './application.ts'
import { compareWithFindOne } from './compare-with-find-one.ts'
import { type AnyOptions, dropDatabases, isOnPostgres, onlyPostgres } from './open-database.ts'
import { people } from './people.ts'

after(dropDatabases)

/** A date, a null and a JSON column, because options of MikroORM change how they are read. */
const columns = { at: p.datetime().nullable(), motto: p.string().nullable(), roles: p.json() }
const row = { at: new Date('1815-12-10T08:00:00Z'), motto: null, roles: ['reader'] }

/** Compares `LookUp` with `em.findOne` for options of MikroORM. */
function compareWith(t: TestContext, strategy: Strategy, options: AnyOptions): Promise<void> {
  const both = { user: columns, token: columns, userRow: row, tokenRow: row }
  return compareWithFindOne(t, strategy, people({ ...both, options }))
}

class UpperCaseNames extends UnderscoreNamingStrategy {
  override propertyToColumnName(name: string): string {
    return `${name.toUpperCase()} "$1"`
  }
}

class OwnHydrator extends ObjectHydrator {}

describe('P1 prepared look-ups and em.findOne agree: configuration', () => {
  it('options that a prepared statement may ignore', (t) =>
    compareWith(t, 'prepared', {
      ...{ ignoreUndefinedInQuery: true, loadStrategy: 'joined', populateWhere: 'infer', dataloader: true },
      ...{ autoJoinOneToOneOwner: false, processOnCreateHooksEarly: false, persistOnCreate: false },
      ...{ flushMode: 'commit', validateRequired: false, useBatchUpdates: false, useBatchInserts: false },
      ...{ batchSize: 1, allowGlobalContext: true, contextName: 'site', entityRepository: EntityRepository },
      ...{ initNullableProperties: true, debug: ['discovery'], logger: () => {} },
    }))
  it('serialisation and names', async (t) => {
    await compareWith(t, 'prepared', {
      namingStrategy: UpperCaseNames,
      serialization: { forceObject: true, includePrimaryKeys: false },
    })
    await compareWith(t, 'prepared', { namingStrategy: EntityCaseNamingStrategy })
  })
  it('time zones', async (t) => {
    for (const timezone of ['+02:00', 'local']) await compareWith(t, 'prepared', { timezone })
    await compareWith(t, 'prepared', { forceUtcTimezone: false, timezone: '-05:00' })
  })
  it('logger that overrides a method of no query', (t) => {
    class PlainLogger extends DefaultLogger {
      override log(): void {}
    }
    return compareWith(t, 'prepared', { loggerFactory: () => new PlainLogger({ writer: () => {} }) })
  })
  it('read replica', async (t) => compareWith(t, 'prepared', { ...(await file(t)), replicas: [{}] }))
  it('name of the application in pg', onlyPostgres, (t) =>
    compareWith(t, 'prepared', { driverOptions: { application_name: 'site' } }),
  )

  it('uses em.findOne for options that change queries, rows, entities or logs', async (t) => {
    class QueryLogger extends DefaultLogger {
      override logQuery(): void {}
    }
    const options = [
      ...[{ forceUndefined: true }, { forceEntityConstructor: true }, { forceEntityConstructor: ['User'] }],
      ...[{ resultCache: { global: 60_000 } }, { disableIdentityMap: true }, { hydrator: OwnHydrator }],
      ...[{ propagationOnPrototype: false }, { onQuery: (sql: string) => `${sql} ` }],
      ...[{ onCreateConnection: async () => {} }, { onReserveConnection: async () => {} }],
      ...[{ loadStrategy: 'select-in' }, { flushMode: 'always' }],
      { loggerFactory: () => new QueryLogger({ writer: () => {} }) },
      { debug: ['query'], logger: () => {} },
      { slowQueryThreshold: 60_000, logger: () => {} },
    ]
    for (const each of options) await compareWith(t, 'findOne', each as AnyOptions)
  })
  it('uses em.findOne for options of pg that change connections or values', onlyPostgres, async (t) => {
    for (const driverOptions of [{ binary: true }, { onPoolCreated: () => {} }, () => ({ binary: true })])
      await compareWith(t, 'findOne', { driverOptions } as AnyOptions)
    await compareWith(t, 'findOne', { sessionContext: 'connection' })
  })
})

/** A database file, because two connections cannot share an in-memory database of SQLite. */
async function file(t: TestContext): Promise<AnyOptions> {
  if (isOnPostgres) return {}
  const folder = await mkdtemp(join(tmpdir(), 'differential-'))
  t.after(() => rm(folder, { recursive: true }))
  return { dbName: join(folder, 'site.sqlite') }
}
