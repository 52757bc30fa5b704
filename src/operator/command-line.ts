import { parseArgs } from 'node:util'
import { type Command, type Options, optionTypes, UsageError } from './command.ts'
import { commands } from './commands.ts'
import { help } from './help.ts'

/** What the operator typed: a command to run, or a wish to read. */
export type CommandLine = { help: string } | { command: Command; email: string; options: Options }

/** Parses the words after `npm run user --`. Throws `UsageError` if they make no sense. */
export function parseCommandLine(words: readonly string[]): CommandLine {
  const [name, ...rest] = words
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') return { help: help(rest[0]) }
  const command = commands.get(name)
  if (!command) throw new UsageError(`There is no command ${name}. There are ${[...commands.keys()].join(', ')}.`)

  const { values, positionals } = parse(command, rest)
  if (values.help) return { help: help(name) }
  const [email = '', ...more] = positionals
  if (command.takesEmail !== (email !== '') || more.length > 0) throw new UsageError(`${name} takes ${command.usage}.`)
  return { command, email, options: values }
}

function parse({ options }: Command, args: string[]): { values: Options; positionals: string[] } {
  const known = [...options, 'help' as const].map((name) => [name, { type: optionTypes[name] }])
  try {
    return parseArgs({ args, options: Object.fromEntries(known), allowPositionals: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message.replace(/\. .*/s, '.') : String(error))
  }
}
