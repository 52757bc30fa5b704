import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createLog } from '../log/log.ts'
import { type Purgeable, startPurging } from './purge.ts'

const minute = 60_000

/** A store of expired rows. Records the size of each deleted batch. */
class Rows implements Purgeable {
  readonly batches: number[] = []
  left: number

  constructor(left: number) {
    this.left = left
  }

  async purge(limit: number): Promise<number> {
    const count = Math.min(this.left, limit)
    this.left -= count
    this.batches.push(count)
    return count
  }
}

/** Starts purging with a wait function that the test controls. */
function purging(...stores: Purgeable[]) {
  const log: string[] = []
  const sink = { write: (line: string) => void log.push(line) }
  let began = Promise.withResolvers<number>()
  let over = Promise.withResolvers<void>()
  const wait = (milliseconds: number) => {
    over = Promise.withResolvers()
    began.resolve(milliseconds)
    return over.promise
  }
  const stop = startPurging(stores, createLog('info', sink), wait)
  // The wait before the first batches has begun.
  began = Promise.withResolvers()
  /** Ends the current wait, and returns the length of the next one in milliseconds. */
  const round = async () => {
    over.resolve()
    const next = await began.promise
    began = Promise.withResolvers()
    return next
  }
  const end = () => {
    const ended = stop()
    over.resolve()
    return ended
  }
  return { log, round, end }
}

describe('startPurging', () => {
  test('E14 deletes in small batches, with a short pause between them, until nothing is left', async () => {
    const rows = new Rows(1_200)
    const { round, end } = purging(rows)
    await turn()
    assert.deepEqual(rows.batches, [], 'The first batch waits, because it would delay the first requests.')
    assert.deepEqual([await round(), await round(), await round()], [100, 100, minute])
    assert.deepEqual(rows.batches, [500, 500, 200])
    await end()
  })

  test('logs an error as a warning, continues with the next store, and retries', async () => {
    let isBroken = true
    const rows = new Rows(1_000)
    const repaired = new Rows(1)
    const broken: Purgeable = {
      async purge(limit) {
        if (isBroken) throw new Error('The database is down.')
        return repaired.purge(limit)
      },
    }
    const { log, round, end } = purging(broken, rows)
    assert.deepEqual([await round(), await round(), await round()], [100, 100, minute])
    isBroken = false
    await round()
    assert.deepEqual([rows.batches, repaired.batches], [[500, 500, 0, 0], [1]])
    const [line, ...others] = log.map((each) => JSON.parse(each))
    assert.deepEqual([line.level, line.msg, line.error], [40, 'purging failed', 'Error'])
    assert.deepEqual(others, [])
    await end()
  })

  test('stops immediately during a wait', {
    timeout: 10_000,
  }, async () => {
    const rows = new Rows(0)
    const stop = startPurging([rows], createLog('silent'))
    await turn()
    await stop()
    assert.deepEqual(rows.batches, [])
  })

  test('stops after the current batch', {
    timeout: 10_000,
  }, async () => {
    const batch = Promise.withResolvers<number>()
    const running = Promise.withResolvers<void>()
    const rows = new Rows(1)
    const first: Purgeable = {
      purge() {
        running.resolve()
        return batch.promise
      },
    }
    const stop = startPurging([first, rows], createLog('silent'), () => turn())
    await running.promise
    const stopped = stop()
    batch.resolve(500)
    await stopped
    assert.deepEqual(rows.batches, [], 'The next store is not purged.')
  })
})
