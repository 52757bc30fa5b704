import type { Readable } from 'node:stream'
import { readPart, type Variables } from '../../config/environment.ts'
import { readMail } from '../../config/mail.ts'
import { readStorage } from '../../config/storage.ts'
import { databaseName } from '../../database/database-url.ts'
import { openDatabase } from '../../database/open-database.ts'
import { schema } from '../../schema.ts'
import { Admin } from '../../users/admin.ts'
import { setBcryptCost } from '../../users/password.ts'
import { User } from '../../users/user.ts'
import { problemOf } from '../command-error.ts'
import { type Call, UsageError } from './command.ts'
import { parseCommandLine, type Request } from './command-line.ts'
import { help } from './help.ts'

/**
 * Runs a command of `npm run user`. Does not throw. A new password is read from `input`. `print` gets the lines for standard output.
 * Returns the exit code, and the problem for standard error.
 */
export async function runUserCommand(
  words: readonly string[],
  variables: Variables,
  input: Readable,
  print: (line: string) => void,
): Promise<{ code: 0 | 1 | 2; problem?: unknown }> {
  try {
    const request = parseCommandLine(words, variables)
    const text = request ? await execute(request, { variables, input, print }) : help
    if (text !== '') print(text)
    return { code: 0 }
  } catch (error) {
    return { code: error instanceof UsageError ? 2 : 1, problem: problemOf(error) }
  }
}

async function execute(
  { run, email, options }: Request,
  given: Pick<Call, 'variables' | 'input' | 'print'>,
): Promise<string> {
  const { databaseUrl, databasePool, bcryptCost, siteName } = readPart(given.variables, readStorage)
  setBcryptCost(bcryptCost)
  await using orm = await openDatabase(databaseUrl, { ...schema, connections: databasePool })
  const account = options.admin
    ? ({ noun: 'admin', entity: Admin } as const)
    : ({ noun: 'user', entity: User } as const)
  const database = databaseName(databaseUrl)
  // Read only when needed, so that a mistake in `SMTP_URL` does not stop the operator from disabling an account.
  const readMailSettings = () =>
    readPart(given.variables, (environment) => readMail(environment, readStorage(environment)))
  const settings = { database, siteName, readMail: readMailSettings }
  return await run({ ...given, ...account, ...settings, em: orm.em.fork(), email, options })
}
