import { parseArgs } from 'node:util'
import type { Variables } from '../../config/environment.ts'
import { type Command, type Options, UsageError } from './command.ts'
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
  // Without `--`, npm consumes the options. `npm run user delete EMAIL --admin` would delete the user with this address, not the admin.
  if (variables.npm_config_admin !== undefined || variables.npm_config_generate !== undefined)
    throw new UsageError('npm consumed an option. Write -- before the command: npm run user -- COMMAND …')
  const [name, ...args] = words
  if (name === undefined || name === 'help' || words.includes('--help') || words.includes('-h'))
    return undefined
  const command = commands.get(name)
  if (!command)
    throw new UsageError(`Unknown command ${name}. The commands are ${[...commands.keys()].join(', ')}.`)

  const [run, usage] = command
  const { values, positionals } = parse(usage, args)
  const most = usage.includes('EMAIL') ? 1 : 0
  const least = usage.startsWith('EMAIL') ? 1 : 0
  if (positionals.length < least || positionals.length > most)
    throw new UsageError(`The command is: npm run user -- ${name} ${usage}.`)
  // The types of the values are those of `usage`.
  return { run, email: positionals[0] ?? '', options: values as Options }
}

function parse(usage: string, args: string[]) {
  const options = [...usage.matchAll(/--([a-z-]+)( [A-Z]+)?/g)].map(
    ([, name = '', value]) => [name, { type: value ? 'string' : 'boolean' }] as const,
  )
  try {
    return parseArgs({ args, options: Object.fromEntries(options), allowPositionals: true })
  } catch (error) {
    // The first sentence names the problem. The others explain the syntax of arguments that start with a dash.
    const [reason = ''] = error instanceof Error ? error.message.split(/\.\s/) : []
    throw new UsageError(`${reason.replace(/\.$/, '')}.`)
  }
}
