import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Refusal, TryLater } from '../refusal.ts'
import { type Waiter, WaitingLines } from './waiting-lines.ts'

/** Something that there is so much of, who has tried to have it, and those who wait for it. */
class Counter {
  left: number
  readonly tried: string[] = []

  constructor(left: number) {
    this.left = left
  }

  waiter(name: string, hasLeft = () => false, until = inAMinute()): Waiter<string> {
    const tries = async () => {
      this.tried.push(name)
      if (this.left === 0) return undefined
      this.left -= 1
      return name
    }
    return { tries, hasLeft, until }
  }
}

function inAMinute(): number {
  return performance.now() + 60_000
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await turn()
}

async function isRefused(waiting: Promise<unknown>): Promise<boolean> {
  const error = await waiting.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (error) assert.ok(error instanceof TryLater && error.status === 503 && error.headers['Retry-After'])
  return error !== undefined
}

describe('WaitingLines', () => {
  test('let in who finds nobody there at once, and the others in the order in which they came', async () => {
    const lines = new WaitingLines()
    const counter = new Counter(5)
    const names = ['a', 'b', 'c', 'd', 'e']
    const order: string[] = []
    await Promise.all(names.map(async (name) => order.push(await lines.enter('line', counter.waiter(name)))))
    assert.deepEqual([order, counter.tried], [names, names])
  })

  test('have only the first one of each try again, when it is told that something has changed', async () => {
    const lines = new WaitingLines()
    const counter = new Counter(0)
    const waiting = ['a', 'b', 'c'].map((name) => lines.enter('line', counter.waiter(name)))
    waiting.push(lines.enter('other line', counter.waiter('x')))
    await turns(5)
    assert.deepEqual(counter.tried.splice(0), ['a', 'x'])
    lines.tell()
    await turns(5)
    assert.deepEqual(counter.tried.splice(0), ['a', 'x'])
    counter.left = 4
    lines.tell()
    assert.deepEqual(await Promise.all(waiting), ['a', 'b', 'c', 'x'])
  })

  test('try again a moment later though nobody tells: another process may have left something', async () => {
    const lines = new WaitingLines()
    const counter = new Counter(0)
    const alive = setTimeout(() => {}, 60_000)
    const waiting = lines.enter('line', counter.waiter('a'))
    await turns(3)
    counter.left = 1
    assert.equal(await waiting, 'a')
    clearTimeout(alive)
  })

  test('miss nothing that changes while somebody tries', async () => {
    const lines = new WaitingLines()
    let tries = 0
    const told = lines.enter('line', {
      async tries() {
        tries += 1
        if (tries < 4) lines.tell()
        return tries < 4 ? undefined : 'at last'
      },
      hasLeft: () => false,
      until: inAMinute(),
    })
    await turns(8)
    assert.equal(tries, 4)
    assert.equal(await told, 'at last')
  })

  test('give each try a turn of the event loop to itself', async () => {
    const lines = new WaitingLines()
    const counter = new Counter(0)
    const waiting = Array.from({ length: 200 }, (_, i) => lines.enter(`${i}`, counter.waiter(`${i}`)))
    await turns(3)
    counter.tried.length = 0
    lines.tell()
    for (let i = 0; i < 100; i += 1) {
      await turn()
      assert.ok(counter.tried.length <= i + 1)
    }
    counter.left = 200
    lines.tell()
    await Promise.all(waiting)
  })

  test('refuse at once who finds 256 waiting behind the first, and nobody in another line', async () => {
    const lines = new WaitingLines()
    const counter = new Counter(0)
    const waiting = Array.from({ length: 257 }, () => lines.enter('line', counter.waiter('a')))
    counter.tried.length = 0
    assert.equal(await isRefused(lines.enter('line', counter.waiter('late'))), true)
    assert.ok(!counter.tried.includes('late'))
    counter.left = 258
    assert.equal(await lines.enter('other line', counter.waiter('b')), 'b')
    lines.tell()
    await Promise.all(waiting)
    counter.left = 1
    assert.equal(await lines.enter('line', counter.waiter('c')), 'c')
  })

  test('hold a thousand in all; who need not wait is let in all the same', async () => {
    const lines = new WaitingLines()
    const counter = new Counter(0)
    const waiting = Array.from({ length: 1000 }, (_, i) => lines.enter(`${i}`, counter.waiter('a')))
    await turns(3)
    assert.equal(await isRefused(lines.enter('new', counter.waiter('late'))), true)
    counter.left = 1
    assert.equal(await lines.enter('new', counter.waiter('b')), 'b')
    counter.left = 1000
    lines.tell()
    await Promise.all(waiting)
  })

  test('drop who has left, without a try', async () => {
    const lines = new WaitingLines()
    const counter = new Counter(0)
    let hasLeft = false
    const gone = Array.from({ length: 100 }, () =>
      lines
        .enter(
          'line',
          counter.waiter('a', () => hasLeft),
        )
        .catch((error: unknown) => error),
    )
    const last = lines.enter('line', counter.waiter('b'))
    await turns(3)
    counter.tried.length = 0
    hasLeft = true
    counter.left = 1
    lines.tell()
    assert.equal(await last, 'b')
    assert.deepEqual(counter.tried, ['b'])
    for (const error of await Promise.all(gone)) assert.ok(error instanceof Refusal && error.status === 400)
  })

  test('tell everybody behind it what went wrong with a try, and nobody what somebody was told', async () => {
    const lines = new WaitingLines()
    const counter = new Counter(5)
    const broken: Waiter<string> = {
      async tries() {
        await turns(5)
        throw new Error('the database is away')
      },
      hasLeft: () => false,
      until: inAMinute(),
    }
    const all = [
      lines.enter('line', broken),
      ...['a', 'b'].map((name) => lines.enter('line', counter.waiter(name))),
    ]
    for (const each of all) await assert.rejects(each, /away/)
    assert.deepEqual(counter.tried, [])
    assert.equal(await lines.enter('line', counter.waiter('c')), 'c')
    const refused: Waiter<string> = {
      async tries() {
        throw new TryLater(429, 'Too many attempts.', 60)
      },
      hasLeft: () => false,
      until: inAMinute(),
    }
    const first = lines.enter('line', refused)
    const second = lines.enter('line', counter.waiter('d'))
    await assert.rejects(first, { status: 429 })
    assert.equal(await second, 'd')
  })

  test('refuse with 503 whose time is over, wherever in the line, without a try, and let nobody past', async () => {
    const lines = new WaitingLines()
    const counter = new Counter(0)
    const soon = () => performance.now() + 20
    const first = lines.enter('line', counter.waiter('a'))
    const late = ['b', 'c'].map((name) => lines.enter('line', counter.waiter(name, undefined, soon())))
    const last = lines.enter('line', counter.waiter('d'))
    for (const each of late) assert.equal(await isRefused(each), true)
    assert.ok(!counter.tried.includes('d'), 'the first is still there')
    assert.equal(await isRefused(lines.enter('other line', counter.waiter('x', undefined, soon()))), true)
    counter.tried.length = 0
    counter.left = 2
    lines.tell()
    assert.deepEqual(await Promise.all([first, last]), ['a', 'd'])
    assert.deepEqual(counter.tried, ['a', 'd'])
  })

  test('keep their order when somebody is refused because a thousand wait', async (t) => {
    // On a slow machine a thousand turns last longer than the lines are left in silence.
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const lines = new WaitingLines()
    const counter = new Counter(0)
    let hasLeft = false
    const first = lines.enter('line', counter.waiter('a'))
    const others = Array.from({ length: 999 }, (_, i) =>
      lines.enter(
        `${i}`,
        counter.waiter('x', () => hasLeft),
      ),
    )
    const gone = Promise.allSettled(others)
    await turns(3)
    assert.equal(await isRefused(lines.enter('line', counter.waiter('refused'))), true)
    hasLeft = true
    lines.tell()
    await gone
    counter.tried.length = 0
    counter.left = 2
    const second = lines.enter('line', counter.waiter('b'))
    await turns(3)
    assert.deepEqual(counter.tried, [], 'the first has a turn before it')
    lines.tell()
    await Promise.all([first, second])
    assert.deepEqual(counter.tried, ['a', 'b'])
  })
})
