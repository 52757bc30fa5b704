import { readStorageConfig } from '../config/config.ts'
import { databaseName } from '../database/database-url.ts'
import { openDatabase } from '../database/open-database.ts'
import { schema } from '../schema.ts'
import { Admin } from '../users/admin.ts'
import { setBcryptCost } from '../users/password.ts'
import { User } from '../users/user.ts'
import { commandProblem } from './command-error.ts'
import { UsageError } from './user/command.ts'
import { parseCommandLine, type Request } from './user/command-line.ts'
import { help } from './user/help.ts'

// The program behind `npm run user`.

try {
  const request = parseCommandLine(process.argv.slice(2))
  console.log(request ? await execute(request) : help)
} catch (error) {
  console.error(commandProblem(error))
  process.exitCode = error instanceof UsageError ? 2 : 1
}

async function execute({ run, email, options }: Request): Promise<string> {
  const { databaseUrl, databasePool, bcryptCost } = readStorageConfig()
  setBcryptCost(bcryptCost)
  const orm = await openDatabase(databaseUrl, { ...schema, connections: databasePool })
  try {
    const noun = options.admin ? 'admin' : 'user'
    const entity = options.admin ? Admin : User
    const database = databaseName(databaseUrl)
    return await run({ em: orm.em.fork(), database, noun, entity, email, options })
  } finally {
    await orm.close()
  }
}
