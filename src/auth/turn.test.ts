import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import Koa from 'koa'
import { auth } from './auth.ts'
import { serve } from './testing/serve.ts'
import { endOfTurn, goOnInStep } from './turn.ts'

const run = promisify(execFile)

test('a turn ends for all who wait, once for each time that they do, and the next one is another', async () => {
  const order: string[] = []
  const go = async (name: string) => {
    for (const step of [1, 2, 3]) {
      await endOfTurn()
      order.push(`${name} ${step}`)
    }
  }
  const first = [go('a'), go('b')]
  process.nextTick(() => order.push('a tick'))
  setImmediate(() => order.push('what comes behind them'))
  await Promise.all(first)
  assert.deepEqual(order, ['a tick', 'a 1', 'b 1', 'a 2', 'b 2', 'a 3', 'b 3'])
  await sleep(1)
  order.length = 0
  const next = endOfTurn().then(() => order.push('end'))
  const ticks = (left: number): unknown =>
    process.nextTick(() => (left > 0 ? queueMicrotask(() => ticks(left - 1)) : order.push('ticks')))
  ticks(5)
  await next
  assert.deepEqual(order, ['ticks', 'end'], 'whoever comes later waits for all that comes meanwhile')
})

test('those who have waited go on in step, each until it waits for anything else', async () => {
  const go = async () => {
    const first = endOfTurn()
    assert.equal(goOnInStep(first), false)
    await first
    assert.equal(goOnInStep(first), true)
    const second = endOfTurn()
    assert.equal(goOnInStep(second), false)
    await undefined
    assert.equal(goOnInStep(first), false)
    await second
    assert.deepEqual([goOnInStep(first), goOnInStep(second)], [false, true])
    await endOfTurn()
    assert.equal(goOnInStep(second), false)
  }
  await Promise.all([go(), go(), go()])
})

test('a turn ends whatever a test has put into the place of timers', async () => {
  // In a process of its own: the test runner needs them, too.
  const program = `
    import { endOfTurn } from '${import.meta.resolve('./turn.ts')}'
    const { nextTick } = process
    for (const name of ['setImmediate', 'queueMicrotask']) globalThis[name] = () => {}
    process.nextTick = () => {}
    for (let i = 0; i < 3; i += 1) await endOfTurn()
    process.nextTick = nextTick
    console.log('ended')`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program])
  assert.equal(stdout, 'ended\n')
})

test('requests that come together are all read before any is worked on, and each has its answer', async (t) => {
  const order: string[] = []
  const app = new Koa()
  app.use((_ctx, next) => {
    order.push('read')
    return next()
  })
  app.use(auth())
  app.use((ctx) => {
    order.push('answered')
    ctx.body = ctx.path
  })
  const { port } = await serve(t, app)
  const sockets = await Promise.all(
    [1, 2, 3].map(async () => {
      const socket = connect(port, '127.0.0.1').setEncoding('utf8')
      await once(socket, 'connect')
      return socket
    }),
  )
  // Until the server has them, too.
  await sleep(50)
  const answers = sockets.map((socket, i) => {
    socket.write(`GET /${i} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
    return socket.toArray()
  })
  for (const [i, answer] of answers.entries()) assert.match((await answer).join(''), new RegExp(`/${i}$`))
  assert.deepEqual(order, ['read', 'read', 'read', 'answered', 'answered', 'answered'])
})
