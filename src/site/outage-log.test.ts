import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DriverException } from '@mikro-orm/core'
import Koa, { type Context } from 'koa'
import { Undecided } from '#auth'
import { createLog } from '../log/log.ts'
import { OutageLog } from './outage-log.ts'
import { logErrors } from './request-log.ts'

function lost(code: string): DriverException {
  return new DriverException(Object.assign(new Error('lost'), { code }))
}

describe('OutageLog', () => {
  test('logs the first failed request of an outage, and then their number', async () => {
    const lines: Record<string, unknown>[] = []
    const ended = Promise.withResolvers<void>()
    const write = (line: string) => {
      if (lines.push(JSON.parse(line)) === 2) ended.resolve()
    }
    const outage = new OutageLog(createLog('info', { write }), 0)
    for (let request = 1; request <= 100; request += 1) outage.count(new Error('lost'), request)
    // The timer of the outage does not keep the process running.
    const running = setInterval(() => {}, 1000)
    await ended.promise
    clearInterval(running)
    assert.deepEqual(
      lines.map(({ level, request, failed }) => [level, request, failed]),
      [
        [50, 1, undefined],
        [40, undefined, 100],
      ],
    )
  })

  test('a repeated error hides no other error', () => {
    const lines: Record<string, unknown>[] = []
    const app = new Koa()
    logErrors(app, createLog('info', { write: (line) => lines.push(JSON.parse(line)) }))
    const report = (error: Error) => app.emit('error', error, { req: { socket: {} }, state: {} } as Context)
    for (const code of ['55P03', '55P03', 'ECONNREFUSED', '55P03', 'ECONNREFUSED'])
      report(new Undecided(lost(code)))
    // A defect of an authenticator.
    for (let i = 0; i < 2; i += 1) report(new Undecided(new TypeError('a defect')))
    assert.deepEqual(
      lines.map(({ msg, cause }) => [msg, (cause as { code?: string }).code]),
      [
        ['the database is unavailable', '55P03'],
        ['the database is unavailable', 'ECONNREFUSED'],
        ['error', undefined],
        ['error', undefined],
      ],
    )
  })
})
