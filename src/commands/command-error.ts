import { DriverException } from '@mikro-orm/core'
import { ConfigError } from '../config/config.ts'
import { DatabaseError, errorCode } from '../database/database-error.ts'

/** A command cannot be carried out. The message is for the operator. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError'
}

/** Returns the text to print when a command fails. An unexpected error is returned unchanged, with its stack. */
export function commandProblem(error: unknown): unknown {
  if (error instanceof CommandError || error instanceof ConfigError || error instanceof DatabaseError)
    return error.message
  // The message of a driver contains SQL with values, such as a password hash.
  if (error instanceof DriverException)
    return `The database failed: ${errorCode(error)}. Nothing was changed.`
  return error
}
