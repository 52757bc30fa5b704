import type { Readable } from 'node:stream'
import type { Variables } from '../../config/environment.ts'
import { readStorageConfig } from '../../config/storage.ts'
import { databaseName } from '../../database/database-url.ts'
import { openDatabase } from '../../database/open-database.ts'
import { schema } from '../../schema.ts'
import { Admin } from '../../users/admin.ts'
import { setBcryptCost } from '../../users/password.ts'
import { User } from '../../users/user.ts'
import { commandProblem } from '../command-error.ts'
import { UsageError } from './command.ts'
import { parseCommandLine, type Request } from './command-line.ts'
import { help } from './help.ts'

/** The exit code of a command, with the text for standard output or the problem for standard error. */
interface Result {
  readonly code: 0 | 1 | 2
  readonly text?: string
  readonly problem?: unknown
}

/** Runs a command of `npm run user`. Does not throw. A new password is read from `input`. */
export async function runUserCommand(
  words: readonly string[],
  variables: Variables,
  input: Readable,
): Promise<Result> {
  try {
    const request = parseCommandLine(words, variables)
    return { code: 0, text: request ? await execute(request, variables, input) : help }
  } catch (error) {
    return { code: error instanceof UsageError ? 2 : 1, problem: commandProblem(error) }
  }
}

async function execute(
  { run, email, options }: Request,
  variables: Variables,
  input: Readable,
): Promise<string> {
  const { databaseUrl, databasePool, bcryptCost, siteName } = readStorageConfig(variables)
  setBcryptCost(bcryptCost)
  await using orm = await openDatabase(databaseUrl, { ...schema, connections: databasePool })
  const noun = options.admin ? 'admin' : 'user'
  const entity = options.admin ? Admin : User
  const database = databaseName(databaseUrl)
  return await run({ em: orm.em.fork(), database, noun, entity, email, options, siteName, variables, input })
}
