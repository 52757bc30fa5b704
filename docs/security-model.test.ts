import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { limits } from '../src/account/sessions/stored-session.ts'
import { type Allowance, rules } from '../src/throttle/allowance.ts'

const hour = 60 * 60_000
const page = readFileSync(join(import.meta.dirname, 'security-model.md'), 'utf8')

describe('docs/security-model.md', () => {
  it('has the rate limits of the code', () => {
    const { password, ...others } = rules
    assert.deepEqual(
      rowsOf('Rate limits').map(([, limit]) => limit),
      [password, ...Object.values(others)].flatMap(({ allowances }) => allowances.map(inWords)),
    )
    assert.deepEqual(
      rowsOf('Rate limits').flatMap(([, , limit = '']) => /(.+) for the device$/.exec(limit)?.[1] ?? []),
      [password, ...Object.values(others)].flatMap(({ fromDevice = [] }) => fromDevice.map(inWords)),
    )
  })

  it('has the session limits of the code', () => {
    const { usual, kept } = limits
    assert.deepEqual(
      rowsOf('Sessions').map(([, idle, absolute]) => [idle, absolute]),
      [
        [`${usual.idle / hour} hours`, `${usual.absolute / hour} hours`],
        [`${kept.idle / hour / 24} days`, `${kept.absolute / hour / 24} days`],
      ],
    )
  })
})

function inWords({ limit, within }: Allowance): string {
  return `${limit} in ${within < hour ? `${within / 60_000} minutes` : within === hour ? '1 hour' : `${within / hour} hours`}`
}

/** The rows of the table in a section, as cells. */
function rowsOf(section: string): string[][] {
  const [, text = ''] = page.split(`\n## ${section}\n`)
  const table = /^\|.*\n\|[ |-]+\n((?:\|.*\n)+)/m.exec(text)?.[1] ?? ''
  return table
    .split('\n')
    .filter(Boolean)
    .map((line) => line.slice(2, -2).split(' | '))
}
