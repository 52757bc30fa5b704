import { type EntityManager, raw } from '@mikro-orm/core'
import type { SqlEntityManager } from '@mikro-orm/sqlite'
import { clockSkew } from '../database/future-time.ts'
import { type Action, rules } from './allowance.ts'
import { AttemptCount, rowsOf } from './counter-rows.ts'
import { keyOf } from './key.ts'

/**
 * Counts an action of an account in the transaction of `em`, which has locked the account. A rollback undoes the count.
 * @returns `false`, and counts nothing, if an allowance of the account is used up
 */
export async function countLocked(
  em: EntityManager,
  { action, account }: { readonly action: Action; readonly account: string },
  now = Date.now(),
): Promise<boolean> {
  const rows = rowsOf({ action, key: keyOf(account, ''), allowances: rules[action].allowances }, now)
  for (const { counter, allowance } of rows) {
    const at = { $gt: now - allowance.within, $lte: now + clockSkew }
    const counts = await em.find(AttemptCount, { counter, at }, { disableIdentityMap: true })
    if (counts.reduce((sum, { used }) => sum + used, 0) >= allowance.limit) return false
  }
  for (const { id, counter, account, allowance } of rows) {
    const times = { at: now, expiresAt: now + allowance.within }
    await (em as SqlEntityManager)
      .createQueryBuilder(AttemptCount)
      .insert({ id, counter, account, ...times, used: 1, running: 0 })
      .onConflict('id')
      .merge({ ...times, used: raw('attempts.used + 1') })
      .execute()
  }
  return true
}
