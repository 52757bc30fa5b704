import type { Config } from './config.ts'
import { createLog, type Logger, loggable } from './log.ts'

/**
 * The log of this process, which has what Node warns of too, and the bug that ends it. Where there are several processes,
 * each line says by its `pid` whose it is.
 */
export function processLog({ logLevel, workers }: Pick<Config, 'logLevel' | 'workers'>): Logger {
  const everybody = createLog(logLevel)
  const log = workers > 1 ? everybody.child({ pid: process.pid }) : everybody
  process.on('warning', (warning) =>
    log.warn({ code: 'code' in warning ? warning.code : undefined }, warning.message),
  )
  process.on('uncaughtException', (error) => {
    log.fatal(loggable(error), 'a bug: this process ends')
    process.exit(1)
  })
  return log
}
