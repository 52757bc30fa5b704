import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { UsageError } from './command.ts'
import { parseCommandLine } from './command-line.ts'
import { commands } from './commands.ts'
import { setPassword } from './set-password.ts'

function parse(words: string, variables = {}) {
  return parseCommandLine(words.split(' ').filter(Boolean), variables)
}

describe('parseCommandLine', () => {
  test('returns the command, the address and the options, in any order', () => {
    const expected = { command: setPassword, email: 'ada@example.com', options: { admin: true } }

    for (const words of ['set-password --admin ada@example.com', 'set-password ada@example.com --admin']) {
      const { command, email, options } = { options: {}, ...parse(words) } as typeof expected
      assert.deepEqual({ command, email, options: { ...options } }, expected)
    }
  })

  test('returns the help of all commands, and of each', () => {
    const asked = ['', '--help', '-h', 'help', 'help frob']
    for (const words of asked) {
      const parsed = parse(words)
      for (const name of commands.keys())
        assert.match('help' in parsed ? parsed.help : '', RegExp(`^  ${name} `, 'm'))
    }
    for (const name of commands.keys()) {
      const parsed = parse(`${name} --help`)
      assert.match('help' in parsed ? parsed.help : '', RegExp(`^npm run user -- ${name} .*\n\n.*\\.\n`))
      assert.deepEqual(parse(`help ${name}`), parsed)
    }
  })

  test('rejects an invalid line, refers to the help, and repeats no password', () => {
    const invalid = [
      'frob',
      'constructor',
      'add',
      'list all',
      'list --generate',
      'delete',
      'delete a@b.co b@b.co',
      'add a@b.co --name',
    ]
    const withPasswords = [
      'add a@b.co hunter2',
      'set-password a@b.co --password=hunter2',
      'set-password a@b.co -p hunter2',
    ]

    for (const words of [...invalid, ...withPasswords]) {
      assert.throws(
        () => parse(words),
        (error) => {
          assert.ok(error instanceof UsageError, words)
          assert.match(error.message, /^[^\n]+\.\nHelp: npm run user -- --help$/)
          assert.doesNotMatch(error.message, /hunter2/)
          return true
        },
      )
    }
  })

  test('rejects a line whose options npm consumed', () => {
    for (const variables of [{ npm_config_admin: 'true' }, { npm_config_generate: 'true' }]) {
      assert.throws(() => parse('delete ada@example.com', variables), /npm run user -- COMMAND/)
    }
  })
})
