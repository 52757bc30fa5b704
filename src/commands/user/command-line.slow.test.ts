import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { UsageError } from './command.ts'
import { parseCommandLine } from './command-line.ts'
import { commands } from './commands.ts'
import { help } from './help.ts'
import { setPassword } from './set-password.ts'

function parse(words: string, variables = {}) {
  return parseCommandLine(words.split(' ').filter(Boolean), variables)
}

describe('help', () => {
  test('describes each command and option', () => {
    for (const [name, [, usage]] of commands) {
      assert.match(help, RegExp(`^  ${name} `, 'm'))
      for (const [option] of usage.matchAll(/--[a-z-]+/g)) assert.match(help, RegExp(`^  ${option} `, 'm'))
    }
  })
})

describe('parseCommandLine', () => {
  test('returns the command, the address and the options, which may precede the address', () => {
    const expected = { run: setPassword, email: 'ada@example.com', options: { admin: true } }

    for (const words of ['set-password --admin ada@example.com', 'set-password ada@example.com --admin']) {
      const request = parse(words)
      assert.deepEqual({ ...request, options: { ...request?.options } }, expected)
    }
  })

  test('returns undefined if the line is empty or asks for help', () => {
    for (const words of ['', '--help', '-h', 'help', 'help frob', 'add --help', 'help add', 'list -h'])
      assert.equal(parse(words), undefined, words)
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
      'add a@b.co --name --admin',
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
