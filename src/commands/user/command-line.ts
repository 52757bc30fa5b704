import { parseArgs } from 'node:util'
import type { Variables } from '../../config/environment.ts'
import { type Command, type Options, optionTypes, UsageError } from './command.ts'
import { commands } from './commands.ts'

export interface Request {
  readonly run: Command
  readonly email: string
  readonly options: Options
}

/**
 * Parses the words after `npm run user --`. Returns `undefined` if there are none, or if they ask for help.
 * @throws {UsageError} if they are not valid
 */
export function parseCommandLine(words: readonly string[], variables: Variables): Request | undefined {
  rejectSwallowedOptions(variables)
  const [name, ...args] = words
  if (name === undefined || name === 'help' || words.includes('--help') || words.includes('-h'))
    return undefined
  const command = commands.get(name)
  if (!command)
    throw new UsageError(`Unknown command ${name}. The commands are ${[...commands.keys()].join(', ')}.`)

  const { run, email: takesEmail = 'one', options = [] } = command
  const { values, positionals } = parse(options, args)
  const [email = ''] = positionals
  const isWrong =
    takesEmail === 'at most one'
      ? positionals.length > 1
      : positionals.length !== (takesEmail === 'one' ? 1 : 0)
  if (isWrong) throw new UsageError(`${name} takes ${takesEmail} e-mail address.`)
  return { run, email, options: values }
}

// Without `--`, npm consumes the options. `npm run user delete EMAIL --admin` would delete the user with this address, not the admin.
function rejectSwallowedOptions(variables: Variables): void {
  if (variables.npm_config_admin === undefined && variables.npm_config_generate === undefined) return
  throw new UsageError('npm consumed an option. Write -- before the command: npm run user -- COMMAND …')
}

function parse(names: readonly (keyof Options)[], args: string[]) {
  const allowed = Object.fromEntries(names.map((name) => [name, { type: optionTypes[name] }]))
  try {
    return parseArgs({ args, options: allowed, allowPositionals: true })
  } catch (error) {
    // The first sentence names the problem. The others explain the syntax of arguments that start with a dash.
    const [reason = ''] = error instanceof Error ? error.message.split(/\.\s/) : []
    throw new UsageError(`${reason.replace(/\.$/, '')}.`)
  }
}
