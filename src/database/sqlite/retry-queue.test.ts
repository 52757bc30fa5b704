import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RetryQueue } from './retry-queue.ts'

/** Work that finds the database busy for the first attempts. */
function work(busyAttempts: number, code = 'SQLITE_BUSY') {
  const done = { attempts: 0 }
  const run = () => {
    done.attempts += 1
    if (done.attempts <= busyAttempts) throw Object.assign(new Error('database is locked'), { code })
    return 'done'
  }
  return { run, done }
}

describe('RetryQueue', () => {
  test('runs work once if the database is not busy', async () => {
    const { run, done } = work(0)
    assert.equal(await new RetryQueue(0).retryWhileBusy(run), 'done')
    assert.equal(done.attempts, 1)
  })

  test('retries for every busy code of SQLite', async () => {
    for (const code of [
      'SQLITE_BUSY',
      'SQLITE_BUSY_RECOVERY',
      'SQLITE_BUSY_SNAPSHOT',
      'SQLITE_BUSY_TIMEOUT',
    ]) {
      const { run, done } = work(3, code)
      assert.equal(await new RetryQueue(5_000).retryWhileBusy(run), 'done')
      assert.equal(done.attempts, 4)
    }
  })

  test('does not block the event loop between two attempts', async () => {
    const { run } = work(3)
    let turns = 0
    const turning = setInterval(() => {
      turns += 1
    })
    await new RetryQueue(5_000).retryWhileBusy(run)
    clearInterval(turning)
    assert.ok(turns >= 2, String(turns))
  })

  test('fails with the busy error after the timeout, and with any other error immediately', async () => {
    const busy = work(Number.POSITIVE_INFINITY)
    await assert.rejects(new RetryQueue(30).retryWhileBusy(busy.run), { code: 'SQLITE_BUSY' })
    assert.ok(busy.done.attempts > 1)

    const full = work(1, 'SQLITE_FULL')
    await assert.rejects(new RetryQueue(5_000).retryWhileBusy(full.run), { code: 'SQLITE_FULL' })
    assert.equal(full.done.attempts, 1)
  })

  test('retries only one of a hundred waiting calls at a time', async () => {
    const queue = new RetryQueue(60)
    const all = Array.from({ length: 100 }, () => work(Number.POSITIVE_INFINITY))
    await Promise.allSettled(all.map(({ run }) => queue.retryWhileBusy(run)))
    const attempts = all.reduce((sum, { done }) => sum + done.attempts, 0)
    assert.ok(attempts < 150, `${attempts} attempts`)
  })

  test('runs waiting calls in the order of their arrival', async () => {
    const queue = new RetryQueue(5_000)
    let isBusy = true
    const order: number[] = []
    const all = [1, 2, 3].map((each) =>
      queue.retryWhileBusy(() => {
        if (isBusy) throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' })
        order.push(each)
      }),
    )
    isBusy = false
    await Promise.all(all)
    assert.deepEqual(order, [1, 2, 3])
  })
})
