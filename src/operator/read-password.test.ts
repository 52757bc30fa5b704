import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { Failure } from '../failure.ts'
import { readPassword } from './read-password.ts'

/** What is read, and what the screen shows meanwhile. */
async function type(keys: string, isTTY: boolean) {
  const input = Object.assign(new PassThrough(), { isTTY })
  const prompts = new PassThrough()
  input.end(keys)
  try {
    return { password: await readPassword(input, prompts), screen: await text(prompts.end()) }
  } catch (error) {
    assert.ok(error instanceof Failure)
    return { refusal: error.message, screen: await text(prompts.end()) }
  }
}

describe('readPassword', () => {
  test('asks twice on a terminal and shows nothing of it', async () => {
    const { password, screen } = await type('correct horse\rcorrect horse\r', true)

    assert.equal(password, 'correct horse')
    assert.equal(screen, 'New password: \nThe same again: \n')
  })

  test('knows backspace, and keeps spaces', async () => {
    const { password } = await type(' correctt\x7f horse \r correct horse \r', true)

    assert.equal(password, ' correct horse ')
  })

  test('refuses two that differ, and none at all', async () => {
    assert.equal((await type('correct horse\rcorrect norse\r', true)).refusal, 'The passwords did not match.')
    for (const keys of ['', 'correct\x03', '\x04', 'correct horse\r\x03']) {
      assert.equal((await type(keys, true)).refusal, 'No password was given.', JSON.stringify(keys))
    }
  })

  test('takes the first line of what is no terminal, and asks nothing', async () => {
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

  test('refuses an empty line and what is not UTF-8', async () => {
    for (const line of ['', '\n', '\r\nsecond line\n']) {
      assert.equal((await type(line, false)).refusal, 'No password came from standard input.')
    }
    const input = new PassThrough().end(Buffer.from([0xff, 0xfe, 0x0a]))
    await assert.rejects(readPassword(input, new PassThrough()), /is not UTF-8/)
  })
})
