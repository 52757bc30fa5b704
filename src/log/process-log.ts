import type { Config } from '../config/config.ts'
import { createLog, type Logger, loggable } from './log.ts'
import { readableLines } from './readable-lines.ts'
import { standardOutput } from './standard-output.ts'

/**
 * Creates the log of this process, including Node's warnings and uncaught exceptions. Lines are readable in development
 * if pino-pretty is installed, and JSON otherwise. With several processes, each line has a `pid`.
 */
export async function processLog({ logLevel, profile, workers }: Config): Promise<Logger> {
  const output = standardOutput()
  const format = profile === 'development' ? await readableLines() : (line: string) => line
  const base = createLog(logLevel, { write: (line) => output.write(format(line)) })
  const log = workers > 1 ? base.child({ pid: process.pid }) : base
  process.on('warning', (warning) =>
    log.warn({ code: 'code' in warning ? warning.code : undefined }, warning.message),
  )
  process.on('uncaughtException', (error) => {
    log.fatal(loggable(error), 'uncaught exception: the process exits')
    process.exit(1)
  })
  return log
}
