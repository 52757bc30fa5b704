import { DriverException, type MikroORM } from '@mikro-orm/core'
import type { Key, LookUpOptions } from '../look-ups.ts'
import { Batch } from './batch.ts'
import { recordQuery } from './find-one-query.ts'
import { NotPrepared } from './not-prepared.ts'
import { type Load, prepareStatement } from './prepared-statement.ts'

/** A look-up with a prepared statement. */
export type PreparedQuery = Awaited<ReturnType<typeof prepareQuery>>

/** Prepares the query of `em.findOne`. Rejects with `NotPrepared` if `em.findOne` must be used, as `find` of the result does. */
export async function prepareQuery(orm: MikroORM, options: LookUpOptions) {
  // MikroORM reads the schema from the `clientUrl` when it connects.
  await orm.em.getConnection('write').ensureConnection().catch(fail)
  const { key, connection, sql, requireUnchanged, hydrate } = await recordQuery(orm, options)
  let statement: Promise<Load> | undefined
  const batch = new Batch(async (keys) => {
    await requireUnchanged()
    statement ??= prepareStatement(connection, sql, key.type)
    try {
      return await (await statement)(keys)
    } catch (error) {
      // The connection may have been reopened. A malformed key (SQLSTATE class 22) does not invalidate the statement.
      if (!/^22/.test(codeOf(error))) statement = undefined
      return fail(error)
    }
  })
  return { keyType: typeof key.key, hydrate, find: (key: Key) => batch.get(key) }
}

/** Throws the error of a database as a reason for `em.findOne`, which then succeeds or throws MikroORM's own error. */
function fail(error: unknown): never {
  if (error instanceof NotPrepared || error instanceof DriverException) throw error
  throw new NotPrepared(`the database failed: ${codeOf(error)}`, { isPassing: true, cause: error })
}

function codeOf(error: unknown): string {
  return String(Reflect.get(Object(error), 'code'))
}
