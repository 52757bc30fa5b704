import { hash } from 'node:crypto'
import type { MikroORM, Transaction } from '@mikro-orm/core'
import type { AbstractSqlConnection } from '@mikro-orm/sqlite'
import { isPostgres } from '../database/is-postgres.ts'
import type { Allowance, Outcome } from './allowance.ts'
import type { AttemptCount } from './attempt-count.ts'
import { type Counter, waitFor } from './counter.ts'

type Counters = readonly Counter[]

/** Reserves an attempt in every counter. Returns `false`, and counts nothing, if the allowance of one of them is used up. */
export function reserve(
  orm: MikroORM,
  counters: Counters,
  now: number,
  outer?: Transaction,
): Promise<boolean> {
  const values = [
    ...counters.flatMap(({ id, allowance }) => [id, now + allowance.within]),
    ...counters.flatMap(({ ids, latest, allowance }) => [...ids, now, latest, allowance.limit]),
  ]
  const newRow = 'select cast(? as text) as id, cast(? as bigint) as expires_at, 0 as used, 1 as running'
  const isFree = ({ ids }: Counter) =>
    `(select coalesce(sum(used + running), 0) from attempts
      where id in (${placeholders(ids)}) and expires_at > ? and expires_at <= ?) < ?`
  const statement = `insert into attempts (id, expires_at, used, running)
    select * from (${counters.map(() => newRow).join(' union all ')}) as wanted
    where ${counters.map(isFree).join(' and ')}
    on conflict (id) do update set expires_at = excluded.expires_at, running = attempts.running + 1`
  return lock(orm, counters, outer, async (transaction) => {
    const { affectedRows } = await connectionOf(orm).execute<{ affectedRows: number }>(
      statement,
      values,
      'run',
      transaction,
    )
    return affectedRows > 0
  })
}

/** Ends a reservation, and counts it in the allowances for this outcome. Counts nothing without an outcome. */
export function settle(
  orm: MikroORM,
  counters: Counters,
  outcome: Outcome | undefined,
  outer?: Transaction,
): Promise<void> {
  const isCounted = ({ allowance }: Counter) => outcome !== undefined && allowance.counts.includes(outcome)
  return lock(orm, counters, outer, async (transaction) => {
    const finish = async (ids: string[], change: string) => {
      if (ids.length === 0) return
      const statement = `update attempts set running = case when running > 0 then running - 1 else 0 end, ${change}
        where id in (${placeholders(ids)})`
      await connectionOf(orm).execute(statement, ids, 'run', transaction)
    }
    await finish(idsOf(counters.filter(isCounted)), 'used = used + 1')
    // A row without attempts expires, so that it is purged.
    const expiry = 'expires_at = case when used = 0 and running <= 1 then 0 else expires_at end'
    await finish(idsOf(counters.filter((counter) => !isCounted(counter))), expiry)
  })
}

/** The allowance with the longest wait, and this wait in milliseconds. It is 0 if finished attempts use up no allowance. */
export async function usedUp(
  orm: MikroORM,
  counters: Counters,
  now: number,
): Promise<{ readonly allowance?: Allowance; readonly wait: number }> {
  const ids = counters.flatMap(({ ids }) => ids)
  const statement = `select id, expires_at as "expiresAt", used, running from attempts where id in (${placeholders(ids)})`
  const found: AttemptCount[] = await connectionOf(orm).execute(statement, ids)
  // PostgreSQL's driver returns a `bigint` as a string.
  const rows = found.map((row) => ({ ...row, expiresAt: Number(row.expiresAt) }))
  const waits = counters.map((counter) => ({
    allowance: counter.allowance,
    wait: waitFor(counter, rows, now),
  }))
  return waits.sort((one, other) => other.wait - one.wait)[0] ?? { wait: 0 }
}

// A write locks the whole SQLite database. On PostgreSQL, each counter has a lock, and the locks are taken in sorted order to
// avoid deadlocks.
function lock<Result>(
  orm: MikroORM,
  counters: Counters,
  outer: Transaction | undefined,
  work: (transaction?: Transaction) => Promise<Result>,
): Promise<Result> {
  if (!isPostgres(orm.em)) return work(outer)
  const names = counters.flatMap(({ names }) => names)
  const locks = names.map((name) => hash('sha256', name, 'buffer').readBigInt64BE()).sort()
  const statement = `select ${locks.map((each) => `pg_advisory_xact_lock(${each})`)}`
  const lockAndWork = async (transaction: Transaction) => {
    await connectionOf(orm).execute(statement, [], 'run', transaction)
    return work(transaction)
  }
  return outer ? lockAndWork(outer) : connectionOf(orm).transactional(lockAndWork)
}

function idsOf(counters: Counters): string[] {
  return counters.map(({ id }) => id)
}

function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join()
}

function connectionOf(orm: MikroORM): AbstractSqlConnection {
  // Both drivers of the site are SQL drivers.
  return orm.em.getConnection() as AbstractSqlConnection
}
