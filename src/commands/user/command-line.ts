import { parseArgs } from 'node:util'
import { type Command, type Options, UsageError } from './command.ts'
import { commands } from './commands.ts'
import { help } from './help.ts'

/** A command with its arguments. */
export interface Request {
  readonly command: Command
  readonly email: string
  readonly options: Options
}

/**
 * Parses the words after `npm run user --` into a command or a help text.
 * @throws {UsageError} if they are neither
 */
export function parseCommandLine(
  words: readonly string[],
  variables = process.env,
): Request | { help: string } {
  rejectSwallowedOptions(variables)
  const [name, ...rest] = words
  if (name === undefined || name === '--help' || name === '-h' || name === 'help')
    return { help: help(rest[0]) }
  const command = commands.get(name)
  if (!command)
    throw new UsageError(`Unknown command ${name}. The commands are ${[...commands.keys()].join(', ')}.`)

  const { values, positionals } = parse(command, rest)
  if (values.help) return { help: help(name) }
  const [email = '', ...more] = positionals
  if (command.takesEmail !== (email !== '') || more.length > 0)
    throw new UsageError(`${name} takes ${command.usage}.`)
  return { command, email, options: values }
}

// Without `--`, npm consumes the options, so that `npm run user delete EMAIL --admin` would delete the user.
function rejectSwallowedOptions(variables: NodeJS.ProcessEnv): void {
  if (variables.npm_config_admin === undefined && variables.npm_config_generate === undefined) return
  throw new UsageError(
    'npm kept an option for itself. Write -- before the command: npm run user -- COMMAND …',
  )
}

const types = { admin: 'boolean', generate: 'boolean', json: 'boolean', name: 'string' } as const

function parse(
  { options }: Command,
  args: string[],
): { values: Options & { help?: boolean }; positionals: string[] } {
  const allowed = Object.fromEntries(options.map((name) => [name, { type: types[name] }]))
  try {
    return parseArgs({ args, options: { ...allowed, help: { type: 'boolean' } }, allowPositionals: true })
  } catch (error) {
    // The first sentence is enough: the others are about arguments that start with a dash.
    const [reason = ''] = error instanceof Error ? error.message.split('. ') : []
    throw new UsageError(`${reason.replace(/\.$/, '')}.`)
  }
}
