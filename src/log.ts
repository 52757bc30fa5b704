import { DriverException } from '@mikro-orm/core'
import { type Logger, pino } from 'pino'

export type { Logger }

/** The log: JSON lines on the standard output, or where a test wants them; times in UTC. */
export function createLog(level: string, destination?: NodeJS.WritableStream): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime }
  return destination ? pino(options, destination) : pino(options)
}

/** What may be written down of an error. A driver's message has the statement with its values in it. */
export function loggable(error: unknown): object {
  if (!(error instanceof Error)) return { error: typeof error }
  const code = 'code' in error ? error.code : undefined
  const cause = error.cause ? loggable(error.cause) : undefined
  if (error instanceof DriverException) return { error: error.name, code, cause }
  return { error: error.name, code, stack: error.stack, cause }
}
