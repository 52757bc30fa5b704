import { DriverException } from '@mikro-orm/core'
import { ConfigError } from '../config/environment.ts'
import { DatabaseError, errorCode } from '../database/database-error.ts'

/** A command cannot be carried out. The message is for the operator. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError'
}

/** Returns the text to print when a command or a start fails. An unexpected error is returned unchanged, with its stack. */
export function problemOf(error: unknown): unknown {
  if (error instanceof CommandError || error instanceof ConfigError || error instanceof DatabaseError)
    return error.message
  // The message of a driver contains SQL with values, such as a password hash.
  if (error instanceof DriverException)
    // If the connection was lost, the result of the commit is unknown.
    return `The database failed: ${errorCode(error)}. Either all changes were saved or none. Run the command again.`
  return isListenError(error) ? `${error.message}. ${remedy(error.code)}` : error
}

// The failed call is `bind` if several workers share the port, and `getaddrinfo` for an unknown host name.
function isListenError(error: unknown): error is NodeJS.ErrnoException {
  const syscall = error instanceof Error && 'syscall' in error && error.syscall
  return syscall === 'listen' || syscall === 'bind' || syscall === 'getaddrinfo'
}

function remedy(code: string | undefined): string {
  if (code === 'EADDRINUSE')
    return 'Set another PORT or METRICS_PORT, or stop the program that listens there.'
  if (code === 'EACCES') return 'Set PORT to 1024 or more.'
  return 'Set HOST to an address of this machine.'
}
