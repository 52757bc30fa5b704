import { ConfigError } from './config.ts'
import { DatabaseError } from './database/open-database.ts'
import { WorkersError } from './workers/workers.ts'

/** All that the operator needs to know of a start that failed, if what is wrong is outside this program. */
export function startProblem(error: unknown): string | undefined {
  if (!isForOperator(error)) return undefined
  const isTaken = 'code' in error && error.code === 'EADDRINUSE'
  return isTaken ? `${error.message}: set another PORT, or stop what listens there` : error.message
}

function isForOperator(error: unknown): error is Error {
  if (error instanceof ConfigError || error instanceof DatabaseError || error instanceof WorkersError)
    return true
  const syscall = error instanceof Error && 'syscall' in error && error.syscall
  // Of several workers, the primary binds for each.
  return syscall === 'listen' || syscall === 'bind' || syscall === 'getaddrinfo'
}
