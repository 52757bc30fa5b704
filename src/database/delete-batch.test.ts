import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { LockMode } from '@mikro-orm/core'
import { v7 as uuidv7 } from 'uuid'
import { temporaryFolder } from '../testing/server-process.ts'
import { makeDatabase, onlyPostgres, patientSchema } from '../testing/test-database.ts'
import { AttemptCount } from '../throttle/attempt-count.ts'
import { Throttle } from '../throttle/throttle.ts'
import { deleteBatch } from './delete-batch.ts'
import { openDatabase } from './open-database.ts'

/** Two connections to a database with expired rows and one row that is not expired. */
async function open(t: TestContext, expired: number) {
  const { url, drop } = await makeDatabase(await temporaryFolder(t))
  const [one, other] = await Promise.all([openDatabase(url, patientSchema), openDatabase(url, patientSchema)])
  t.after(async () => {
    await Promise.all([one.close(), other.close()])
    await drop()
  })
  const row = (expiresAt: number) => ({ id: uuidv7(), expiresAt, used: 1, running: 0 })
  await one.em
    .fork()
    .insertMany(AttemptCount, [row(Date.now() + 60_000), ...Array.from({ length: expired }, () => row(0))])
  return { one, other, left: () => one.em.fork().count(AttemptCount) }
}

describe('deleteBatch', () => {
  test('E14 deletes each row once during two concurrent purges', async (t) => {
    const { one, other, left } = await open(t, 2_000)
    const purge = async (throttle: Throttle) => {
      let purged = 0
      for (let batch = 1; batch > 0; purged += batch) batch = await throttle.purge(100)
      return purged
    }
    const [here, there] = await Promise.all([purge(new Throttle(one)), purge(new Throttle(other))])
    // On PostgreSQL, a purge skips the rows that the other purge has locked, so a last call deletes the rest.
    assert.equal(here + there + (await purge(new Throttle(one))), 2_000)
    assert.equal(await left(), 1)
  })

  test('E14 skips rows that another transaction has locked', onlyPostgres, async (t) => {
    const { one, other, left } = await open(t, 150)
    const old = [{ expiresAt: 0 }]
    await one.em.fork().transactional(async (em) => {
      const lock = { limit: 100, lockMode: LockMode.PESSIMISTIC_WRITE, filters: false } as const
      await em.find(AttemptCount, { expiresAt: 0 }, lock)
      assert.equal(await deleteBatch(other.em.fork(), AttemptCount, old, 100), 50)
      assert.equal(await deleteBatch(other.em.fork(), AttemptCount, old, 100), 0)
    })
    assert.equal(await left(), 101)
  })

  test('E14 deletes nothing while another process purges', onlyPostgres, async (t) => {
    const { one, other, left } = await open(t, 10)
    const old = [{ expiresAt: 0 }]
    await one.em.fork().transactional(async (em) => {
      assert.equal(await deleteBatch(em, AttemptCount, old, 5), 5)
      assert.equal(await deleteBatch(other.em.fork(), AttemptCount, old, 5), 0)
    })
    assert.equal(await deleteBatch(other.em.fork(), AttemptCount, old, 10), 5)
    assert.equal(await left(), 1)
  })
})
