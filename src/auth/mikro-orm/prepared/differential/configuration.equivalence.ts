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
import { people, type Variation } from './people.ts'

after(dropDatabases)

/** A date, a null and a JSON column, because options of MikroORM change how they are read. */
const columns = { at: p.datetime().nullable(), motto: p.string().nullable(), roles: p.json() }
const row = { at: new Date('1815-12-10T08:00:00Z'), motto: null, roles: ['reader'] }

/** Compares `LookUp` with `em.findOne` for options of MikroORM. */
function compareWith(
  t: TestContext,
  strategy: Strategy,
  options: AnyOptions,
  variation?: Variation,
): Promise<void> {
  const both = { user: columns, token: columns, userRow: row, tokenRow: row }
  return compareWithFindOne(t, strategy, people({ ...both, options, ...variation }))
}

class UpperCaseNames extends UnderscoreNamingStrategy {
  override propertyToColumnName(name: string): string {
    return `${name.toUpperCase()} "$1"`
  }
}

class OwnHydrator extends ObjectHydrator {}

const withoutUser: Variation = {
  relate: (User) => p.manyToOne(User).nullable(),
  tokenRow: { ...row, user: null },
}

describe('P1 LookUp and em.findOne agree: configuration', () => {
  it('defaults', (t) => compareWith(t, 'prepared', {}))
  it('entity-case names', (t) => compareWith(t, 'prepared', { namingStrategy: EntityCaseNamingStrategy }))
  it('names in snake case', (t) => compareWith(t, 'prepared', { namingStrategy: UnderscoreNamingStrategy }))
  it('custom naming strategy', (t) => compareWith(t, 'prepared', { namingStrategy: UpperCaseNames }))
  it('undefined for null', (t) => compareWith(t, 'findOne', { forceUndefined: true }))
  it('undefined for null, without a user', (t) =>
    compareWith(t, 'findOne', { forceUndefined: true }, withoutUser))
  it('undefined for null, set later', (t) =>
    compareWith(t, 'findOne', {}, { later: ({ config }) => config.set('forceUndefined', true) }))
  it('undefined values ignored in queries', (t) =>
    compareWith(t, 'prepared', { ignoreUndefinedInQuery: true }))
  it('forced constructors', (t) => compareWith(t, 'findOne', { forceEntityConstructor: true }))
  it('forced constructors of some entities', (t) =>
    compareWith(t, 'findOne', { forceEntityConstructor: ['User'] }))
  it('load strategy select-in', (t) => compareWith(t, 'findOne', { loadStrategy: 'select-in' }))
  it('load strategy joined', (t) => compareWith(t, 'prepared', { loadStrategy: 'joined' }))
  it('load strategy balanced', (t) => compareWith(t, 'prepared', { loadStrategy: 'balanced' }))
  it('`populateWhere` infer', (t) => compareWith(t, 'prepared', { populateWhere: 'infer' }))
  it('global result cache', (t) => compareWith(t, 'findOne', { resultCache: { global: 60_000 } }))
  it('no identity map', (t) => compareWith(t, 'findOne', { disableIdentityMap: true }))
  it('time zone', (t) => compareWith(t, 'prepared', { timezone: '+02:00' }))
  it('local time zone', (t) => compareWith(t, 'prepared', { timezone: 'local' }))
  it('no UTC', (t) => compareWith(t, 'prepared', { forceUtcTimezone: false }))
  it('time zone without UTC', (t) =>
    compareWith(t, 'prepared', { forceUtcTimezone: false, timezone: '-05:00' }))
  it('custom hydrator', (t) => compareWith(t, 'findOne', { hydrator: OwnHydrator }))
  it('no propagation of relations', (t) => compareWith(t, 'findOne', { propagationOnPrototype: false }))
  it('references as objects', (t) => compareWith(t, 'prepared', { serialization: { forceObject: true } }))
  it('no primary keys in JSON', (t) =>
    compareWith(t, 'prepared', { serialization: { includePrimaryKeys: false } }))
  it('no automatic join of one-to-one owners', (t) =>
    compareWith(t, 'prepared', { autoJoinOneToOneOwner: false }))
  it('onCreate hooks at the flush, and no persist by `em.create`', (t) =>
    compareWith(t, 'prepared', { processOnCreateHooksEarly: false, persistOnCreate: false }))
  it('flush on commit', (t) => compareWith(t, 'prepared', { flushMode: 'commit' }))
  it('logger that overrides `logQuery`', (t) => {
    class QueryLogger extends DefaultLogger {
      override logQuery(): void {}
    }
    return compareWith(t, 'findOne', { loggerFactory: () => new QueryLogger({ writer: () => {} }) })
  })
  it('logger that overrides `log`', (t) => {
    class PlainLogger extends DefaultLogger {
      override log(): void {}
    }
    return compareWith(t, 'prepared', { loggerFactory: () => new PlainLogger({ writer: () => {} }) })
  })
  it('values in the binary format of pg', onlyPostgres, (t) =>
    compareWith(t, 'findOne', { driverOptions: { binary: true } }),
  )
  it('hook for a new pool of pg', onlyPostgres, (t) =>
    compareWith(t, 'findOne', { driverOptions: { onPoolCreated: () => {} } }),
  )
  it('options of pg from a function', onlyPostgres, (t) =>
    compareWith(t, 'findOne', { driverOptions: () => ({ binary: true }) } as AnyOptions),
  )
  it('name of the application in pg', onlyPostgres, (t) =>
    compareWith(t, 'prepared', { driverOptions: { application_name: 'site' } }),
  )
  it('data loader', (t) => compareWith(t, 'prepared', { dataloader: true }))
  it('no validation', (t) => compareWith(t, 'prepared', { validateRequired: false }))
  it('no batches', (t) =>
    compareWith(t, 'prepared', { useBatchUpdates: false, useBatchInserts: false, batchSize: 1 }))
  it('global context', (t) => compareWith(t, 'prepared', { allowGlobalContext: true }))
  it('named context', (t) => compareWith(t, 'prepared', { contextName: 'site' }))
  it('custom repository', (t) => compareWith(t, 'prepared', { entityRepository: EntityRepository }))
  it('initialised nullable properties', (t) => compareWith(t, 'prepared', { initNullableProperties: true }))
  it('hook for queries', (t) => compareWith(t, 'findOne', { onQuery: (sql) => `${sql} ` }))
  it('hook for connections', (t) => compareWith(t, 'findOne', { onCreateConnection: async () => {} }))
  it('hook for connections of the pool', (t) =>
    compareWith(t, 'findOne', { onReserveConnection: async () => {} }))
  it('session context of connections', onlyPostgres, (t) =>
    compareWith(t, 'findOne', { sessionContext: 'connection' }),
  )
  it('logged queries', (t) => compareWith(t, 'findOne', { debug: ['query'], logger: () => {} }))
  it('logged slow queries', (t) =>
    compareWith(t, 'findOne', { slowQueryThreshold: 60_000, logger: () => {} } as AnyOptions))
  it('logged discovery', (t) => compareWith(t, 'prepared', { debug: ['discovery'], logger: () => {} }))
  it('read replica', async (t) => compareWith(t, 'prepared', { ...(await file(t)), replicas: [{}] }))
  it('read replica that is not preferred', async (t) =>
    compareWith(t, 'prepared', { ...(await file(t)), replicas: [{}], preferReadReplicas: false }))
})

/** A database file, because two connections cannot share an in-memory database of SQLite. */
async function file(t: TestContext): Promise<AnyOptions> {
  if (isOnPostgres) return {}
  const folder = await mkdtemp(join(tmpdir(), 'differential-'))
  t.after(() => rm(folder, { recursive: true }))
  return { dbName: join(folder, 'site.sqlite') }
}
