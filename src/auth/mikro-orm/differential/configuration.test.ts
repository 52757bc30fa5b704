import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it, type TestContext } from 'node:test'
import {
  EntityCaseNamingStrategy,
  EntityRepository,
  ObjectHydrator,
  p,
  UnderscoreNamingStrategy,
} from '@mikro-orm/core'
import { isAsFindOne, type Way } from './compare.ts'
import { type AnyOptions, dropDatabases, isOnPostgres, onlyPostgres } from './open-database.ts'
import { people, type Special } from './people.ts'

after(dropDatabases)

/** A column of the kinds that options change. */
const columns = { at: p.datetime().nullable(), motto: p.string().nullable(), roles: p.json() }
const row = { at: new Date('1815-12-10T08:00:00Z'), motto: null, roles: ['reader'] }

/** Asserts it of users and tokens in an application with such options, and of the look-up that it takes that way. */
function isFoundWith(t: TestContext, way: Way, options: AnyOptions, special?: Special): Promise<void> {
  const both = { user: columns, token: columns, userRow: row, tokenRow: row }
  return isAsFindOne(t, way, people({ ...both, options, ...special }))
}

class Shouting extends UnderscoreNamingStrategy {
  override propertyToColumnName(name: string): string {
    return `${name.toUpperCase()} "$1"`
  }
}

class OwnHydrator extends ObjectHydrator {}

const nobody: Special = {
  relate: (User) => p.manyToOne(User).nullable(),
  tokenRow: { ...row, user: null },
}

describe('LookUp, of the configuration, finds as em.findOne does', () => {
  it('nothing special', (t) => isFoundWith(t, 'prepared', {}))
  it('names like the entities', (t) =>
    isFoundWith(t, 'prepared', { namingStrategy: EntityCaseNamingStrategy }))
  it('names in snake case', (t) => isFoundWith(t, 'prepared', { namingStrategy: UnderscoreNamingStrategy }))
  it('own names', (t) => isFoundWith(t, 'prepared', { namingStrategy: Shouting }))
  it('undefined for null', (t) => isFoundWith(t, 'findOne', { forceUndefined: true }))
  it('undefined for null, without a user', (t) => isFoundWith(t, 'findOne', { forceUndefined: true }, nobody))
  it('undefined for null in a query', (t) => isFoundWith(t, 'prepared', { ignoreUndefinedInQuery: true }))
  it('forced constructors', (t) => isFoundWith(t, 'findOne', { forceEntityConstructor: true }))
  it('forced constructors of some', (t) => isFoundWith(t, 'findOne', { forceEntityConstructor: ['User'] }))
  it('select-in', (t) => isFoundWith(t, 'findOne', { loadStrategy: 'select-in' }))
  it('joined', (t) => isFoundWith(t, 'prepared', { loadStrategy: 'joined' }))
  it('balanced', (t) => isFoundWith(t, 'prepared', { loadStrategy: 'balanced' }))
  it('populate where infer', (t) => isFoundWith(t, 'prepared', { populateWhere: 'infer' }))
  it('global result cache', (t) => isFoundWith(t, 'findOne', { resultCache: { global: 60_000 } }))
  it('no identity map', (t) => isFoundWith(t, 'findOne', { disableIdentityMap: true }))
  it('time zone', (t) => isFoundWith(t, 'prepared', { timezone: '+02:00' }))
  it('local time zone', (t) => isFoundWith(t, 'prepared', { timezone: 'local' }))
  it('no UTC', (t) => isFoundWith(t, 'prepared', { forceUtcTimezone: false }))
  it('time zone without UTC', (t) =>
    isFoundWith(t, 'prepared', { forceUtcTimezone: false, timezone: '-05:00' }))
  it('own hydrator', (t) => isFoundWith(t, 'prepared', { hydrator: OwnHydrator }))
  it('no propagation', (t) => isFoundWith(t, 'prepared', { propagationOnPrototype: false }))
  it('references as objects', (t) => isFoundWith(t, 'prepared', { serialization: { forceObject: true } }))
  it('no primary keys in JSON', (t) =>
    isFoundWith(t, 'prepared', { serialization: { includePrimaryKeys: false } }))
  it('no join of owners', (t) => isFoundWith(t, 'prepared', { autoJoinOneToOneOwner: false }))
  it('flush on commit', (t) => isFoundWith(t, 'prepared', { flushMode: 'commit' }))
  it('data loader', (t) => isFoundWith(t, 'prepared', { dataloader: true }))
  it('no validation', (t) => isFoundWith(t, 'prepared', { validateRequired: false }))
  it('no batches', (t) =>
    isFoundWith(t, 'prepared', { useBatchUpdates: false, useBatchInserts: false, batchSize: 1 }))
  it('global context', (t) => isFoundWith(t, 'prepared', { allowGlobalContext: true }))
  it('own context', (t) => isFoundWith(t, 'prepared', { contextName: 'site' }))
  it('own repository', (t) => isFoundWith(t, 'prepared', { entityRepository: EntityRepository }))
  it('initialised nullable properties', (t) => isFoundWith(t, 'prepared', { initNullableProperties: true }))
  it('hook for queries', (t) => isFoundWith(t, 'findOne', { onQuery: (sql) => `${sql} ` }))
  it('hook for connections', (t) => isFoundWith(t, 'findOne', { onCreateConnection: async () => {} }))
  it('hook for connections of the pool', (t) =>
    isFoundWith(t, 'findOne', { onReserveConnection: async () => {} }))
  it('hook for connections of a replica', async (t) =>
    isFoundWith(t, 'findOne', {
      ...(await file(t)),
      replicas: [{ onCreateConnection: async () => {} }],
    }))
  it('session context of connections', onlyPostgres, (t) =>
    isFoundWith(t, 'findOne', { sessionContext: 'connection' }),
  )
  it('logged queries', (t) => isFoundWith(t, 'findOne', { debug: ['query'], logger: () => {} }))
  it('logged slow queries', (t) =>
    isFoundWith(t, 'findOne', { slowQueryThreshold: 60_000, logger: () => {} } as AnyOptions))
  it('logged discovery', (t) => isFoundWith(t, 'prepared', { debug: ['discovery'], logger: () => {} }))
  it('read replica', async (t) => isFoundWith(t, 'prepared', { ...(await file(t)), replicas: [{}] }))
  it('read replica that is not preferred', async (t) =>
    isFoundWith(t, 'prepared', { ...(await file(t)), replicas: [{}], preferReadReplicas: false }))
})

/** A database in a file, which SQLite can open twice. */
async function file(t: TestContext): Promise<AnyOptions> {
  if (isOnPostgres) return {}
  const folder = await mkdtemp(join(tmpdir(), 'differential-'))
  t.after(() => rm(folder, { recursive: true }))
  return { dbName: join(folder, 'site.sqlite') }
}
