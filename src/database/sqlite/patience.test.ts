import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { withoutWaiting } from '../without-waiting.ts'
import { Patience } from './patience.ts'

/** Work that finds the database busy so many times. */
function work(busy: number, code = 'SQLITE_BUSY') {
  const done = { tries: 0 }
  const run = () => {
    done.tries += 1
    if (done.tries <= busy) throw Object.assign(new Error('database is locked'), { code })
    return 'done'
  }
  return { run, done }
}

describe('Patience', () => {
  test('does at once what can be done at once', async () => {
    const { run, done } = work(0)
    assert.equal(await new Patience(0).run(run), 'done')
    assert.equal(done.tries, 1)
  })

  test('tries again while the database is busy, for whatever reason', async () => {
    for (const code of [
      'SQLITE_BUSY',
      'SQLITE_BUSY_RECOVERY',
      'SQLITE_BUSY_SNAPSHOT',
      'SQLITE_BUSY_TIMEOUT',
    ]) {
      const { run, done } = work(3, code)
      assert.equal(await new Patience(5_000).run(run), 'done')
      assert.equal(done.tries, 4)
    }
  })

  test('lets the event loop turn between two tries', async () => {
    const { run } = work(3)
    let turns = 0
    const turning = setInterval(() => {
      turns += 1
    })
    await new Patience(5_000).run(run)
    clearInterval(turning)
    assert.ok(turns >= 2, String(turns))
  })

  test('ends with the error that there was, at once if nobody is at work', async () => {
    const busy = work(Number.POSITIVE_INFINITY)
    await assert.rejects(new Patience(30).run(busy.run), { code: 'SQLITE_BUSY' })
    assert.ok(busy.done.tries > 1)

    const full = work(1, 'SQLITE_FULL')
    await assert.rejects(new Patience(5_000).run(full.run), { code: 'SQLITE_FULL' })
    assert.equal(full.done.tries, 1)
  })

  test('is not had with what can be left undone', async () => {
    const { run, done } = work(1)
    const patience = new Patience(5_000)
    await assert.rejects(
      withoutWaiting(() => patience.run(run)),
      { code: 'SQLITE_BUSY' },
    )
    assert.equal(done.tries, 1)
  })

  test('has a hundred who wait try hardly oftener than one', async () => {
    const patience = new Patience(60)
    const all = Array.from({ length: 100 }, () => work(Number.POSITIVE_INFINITY))
    await Promise.allSettled(all.map(({ run }) => patience.run(run)))
    const tries = all.reduce((sum, { done }) => sum + done.tries, 0)
    assert.ok(tries < 150, `${tries} tries`)
  })

  test('lets those who wait through in the order in which they came', async () => {
    const patience = new Patience(5_000)
    let isBusy = true
    const order: number[] = []
    const all = [1, 2, 3].map((each) =>
      patience.run(() => {
        if (isBusy) throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' })
        order.push(each)
      }),
    )
    isBusy = false
    await Promise.all(all)
    assert.deepEqual(order, [1, 2, 3])
  })
})
