import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { startServer } from '../server-process.ts'
import { isOnPostgres } from '../test-database.ts'
import { Ledger } from './ledger.ts'

type Test = Parameters<typeof startServer>[0]

/**
 * Kills a busy server repeatedly at random times, and asserts that no acknowledged write is lost. Returns the number of acknowledged
 * writes.
 */
export async function killRepeatedly(t: Test, folder: string, times: number): Promise<number> {
  const ledger = new Ledger()
  for (let time = 0; time <= times; time += 1) {
    const variables = { DATA_DIR: folder, THROTTLE: 'off', LOG_LEVEL: 'info' }
    const server = await startServer(t, variables, { isPatient: true })
    await ledger.verify(server)
    if (time === times) break
    const busy = Promise.all([1, 2, 3, 4].map(() => ledger.keepBusy(server)))
    await Promise.race([ledger.more(20 + Math.floor(randomInt(80))), busy])
    server.child.kill('SIGKILL')
    await Promise.all([busy, server.ended])
    if (!isOnPostgres) assertSound(join(folder, 'site.sqlite'))
  }
  return ledger.acknowledged
}

function assertSound(file: string): void {
  const database = new Database(file)
  assert.equal(database.pragma('integrity_check', { simple: true }), 'ok')
  assert.deepEqual(database.pragma('foreign_key_check'), [])
  database.close()
}
