import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createLog } from '../log/log.ts'
import { OutageLog } from './outage-log.ts'

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
})
