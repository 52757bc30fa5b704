import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { v7 as uuidv7 } from 'uuid'
import { temporaryFolder } from '../testing/server-process.ts'
import { makeDatabase, onlyPostgres } from '../testing/test-database.ts'
import { Attempt } from '../throttle/attempt.ts'
import { Throttle } from '../throttle/throttle.ts'
import { deleteBatch } from './delete-batch.ts'
import { openDatabase } from './open-database.ts'

/** Two processes' worth of connections to a database with so many rows that are over, and one that is not. */
async function open(t: TestContext, over: number) {
  const { url, drop } = await makeDatabase(await temporaryFolder(t))
  const [one, other] = await Promise.all([openDatabase(url), openDatabase(url)])
  t.after(async () => {
    await Promise.all([one.close(), other.close()])
    await drop()
  })
  const row = (at: number) => ({
    id: uuidv7(),
    ...{ action: 'password', account: 'ada', network: 'here', at, pending: false },
  })
  await one.em.fork().insertMany(Attempt, [row(Date.now()), ...Array.from({ length: over }, () => row(0))])
  return { one, other, left: () => one.em.fork().count(Attempt) }
}

describe('deleteBatch', () => {
  test('deletes each row once, though two processes purge at the same time', async (t) => {
    const { one, other, left } = await open(t, 2_000)
    const purge = async (throttle: Throttle) => {
      let purged = 0
      for (let batch = 1; batch > 0; purged += batch) batch = await throttle.purge(100)
      return purged
    }
    const [here, there] = await Promise.all([purge(new Throttle(one)), purge(new Throttle(other))])
    // Of what one has locked, the other takes nothing; what it finds is over when nobody has any more.
    assert.equal(here + there + (await purge(new Throttle(one))), 2_000)
    assert.equal(await left(), 1)
  })

  test('waits for nobody who deletes the same: it takes what is left', onlyPostgres, async (t) => {
    const { one, other, left } = await open(t, 150)
    const over = { where: { at: 0 }, key: 'id' } as const
    await one.em.fork().transactional(async (em) => {
      assert.equal(await deleteBatch(em, Attempt, over, 100), 100)
      assert.equal(await deleteBatch(other.em.fork(), Attempt, over, 100), 50)
      assert.equal(await deleteBatch(other.em.fork(), Attempt, over, 100), 0)
    })
    assert.equal(await left(), 1)
  })
})
