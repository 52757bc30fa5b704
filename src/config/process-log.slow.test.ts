import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'

describe('processLog', () => {
  test('loses no line if the process exits in the same event-loop turn', () => {
    const program = `
      import { processLog } from '${import.meta.resolve('./process-log.ts')}'
      const log = await processLog({ logLevel: 'info', profile: 'test', workers: 1 })
      for (let number = 0; number < 500; number += 1) log.info({ number, text: 'x'.repeat(number) }, 'line')
      process.exit(0)`
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program])
    const lines = String(stdout).trimEnd().split('\n')
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).number),
      Array.from({ length: 500 }, (_, number) => number),
    )
  })
})
