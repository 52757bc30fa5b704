import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

export interface Outcome {
  readonly code: number | null
  readonly out: string
  readonly errors: string
}

/** Runs a program of the site as npm does. */
export async function runCommand(
  words: readonly string[],
  env: Record<string, string | undefined>,
  input = '',
): Promise<Outcome> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../start.js'), ...words], { env })
  // A command that fails early does not read its input.
  child.stdin.on('error', () => {}).end(input)
  const [[code], out, errors] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ])
  return { code, out, errors }
}

/** Asserts that a command failed with this message, without a stack, SQL, a password or a hash. */
export function assertRefused({ code, out, errors }: Outcome, reason: RegExp): void {
  assert.match(errors, reason)
  assert.deepEqual({ code, out }, { code: 1, out: '' })
  assert.doesNotMatch(errors, /\n\s+at |insert into|hunter2|\$2b\$/)
}
