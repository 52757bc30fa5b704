import { DriverException } from '@mikro-orm/core'
import { ConfigError, readStorageConfig } from '../config/config.ts'
import { databaseName } from '../database/database-url.ts'
import { DatabaseError, openDatabase } from '../database/open-database.ts'
import { schema } from '../schema.ts'
import { Admin } from '../users/admin.ts'
import { setBcryptCost } from '../users/password.ts'
import { User } from '../users/user.ts'
import { CommandError } from './command-error.ts'
import { UsageError } from './user/command.ts'
import { parseCommandLine, type Request } from './user/command-line.ts'

// The program behind `npm run user`.

try {
  const line = parseCommandLine(process.argv.slice(2))
  console.log('help' in line ? line.help : await run(line))
} catch (error) {
  console.error(explain(error))
  process.exitCode = error instanceof UsageError ? 2 : 1
}

async function run({ command, email, options }: Request): Promise<string> {
  const { databaseUrl, databasePool, bcryptCost } = readStorageConfig()
  setBcryptCost(bcryptCost)
  const orm = await openDatabase(databaseUrl, { ...schema, connections: databasePool })
  try {
    const { noun, entity } = options.admin
      ? ({ noun: 'admin', entity: Admin } as const)
      : ({ noun: 'user', entity: User } as const)
    const database = databaseName(databaseUrl)
    return await command.run({ em: orm.em.fork(), database, noun, entity, email, options })
  } finally {
    await orm.close()
  }
}

function explain(error: unknown): unknown {
  if (error instanceof CommandError || error instanceof ConfigError || error instanceof DatabaseError)
    return error.message
  // The message of a driver contains SQL with values, such as a password hash.
  if (error instanceof DriverException)
    return `The database could not do that (${error.code}). Nothing was changed.`
  return error
}
