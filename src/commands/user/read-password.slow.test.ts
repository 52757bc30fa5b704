import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { CommandError } from '../command-error.ts'
import { readPassword } from './read-password.ts'

/** Types keys. Returns the password or the message of the error, and the output of the terminal. */
async function type(keys: string, isTTY: boolean) {
  const input = Object.assign(new PassThrough(), { isTTY })
  const prompts = new PassThrough()
  input.end(keys)
  try {
    return { password: await readPassword(input, prompts), screen: await text(prompts.end()) }
  } catch (error) {
    assert.ok(error instanceof CommandError)
    return { refusal: error.message, screen: await text(prompts.end()) }
  }
}

describe('readPassword', () => {
  test('prompts twice on a terminal, and does not show the password', async () => {
    const { password, screen } = await type('correct horse\rcorrect horse\r', true)

    assert.equal(password, 'correct horse')
    assert.equal(screen, 'New password: \nRepeat the password: \n')
  })

  test('supports backspace, and keeps spaces', async () => {
    const { password } = await type(' correctt\x7f horse \r correct horse \r', true)

    assert.equal(password, ' correct horse ')
  })

  test('rejects two different passwords, and a missing password', async () => {
    assert.equal((await type('correct horse\rcorrect norse\r', true)).refusal, 'The passwords did not match.')
    for (const keys of ['', 'correct\x03', '\x04', 'correct horse\r\x03']) {
      assert.equal((await type(keys, true)).refusal, 'No password was given.', JSON.stringify(keys))
    }
  })

  test('reads the first line of input that is not a terminal, without a prompt', async () => {
    for (const line of [
      'correct horse',
      'correct horse\n',
      'correct horse\r\n',
      'correct horse\nand more\n',
      '\uFEFFcorrect horse\n',
    ]) {
      assert.deepEqual(await type(line, false), { password: 'correct horse', screen: '' })
    }
    assert.equal((await type(' spaces count \n', false)).password, ' spaces count ')
  })

  test('rejects an empty line and invalid UTF-8', async () => {
    for (const line of ['', '\n', '\r\nsecond line\n']) {
      assert.equal((await type(line, false)).refusal, 'Standard input contains no password.')
    }
    const input = new PassThrough().end(Buffer.from([0xff, 0xfe, 0x0a]))
    await assert.rejects(readPassword(input, new PassThrough()), /is not UTF-8/)
  })
})
