import { hostname } from 'node:os'
import { pino } from 'pino'
import packageJson from '../../package.json' with { type: 'json' }
import { createLog, type Logger, loggable } from '../log/log.ts'
import type { Config } from './config.ts'
import { readableLines } from './readable-lines.ts'

const { version } = packageJson

/**
 * Creates the log of this process on the standard output, with Node's warnings and uncaught exceptions. Lines are readable in
 * development if pino-pretty is installed, and JSON otherwise. Each line names the process, and outside of development the host and the version.
 */
export async function processLog({ logLevel, profile }: Config): Promise<Logger> {
  const output = standardOutput()
  const format = profile === 'development' ? await readableLines() : (line: string) => line
  const base = createLog(logLevel, { write: (line) => output.write(format(line)) })
  const host = { 'host.name': hostname(), 'service.version': version }
  const log = base.child({ 'process.pid': process.pid, ...(profile !== 'development' && host) })
  process.on('warning', (warning) =>
    log.warn({ code: 'code' in warning ? warning.code : undefined }, warning.message),
  )
  process.on('uncaughtException', (error) => {
    log.fatal(loggable(error), 'uncaught exception: the process exits')
    process.exit(1)
  })
  return log
}

/** The standard output. Writes do not block, up to a megabyte is buffered, and further lines are dropped. */
function standardOutput() {
  let hasFailed = false
  // At the exit, pino would retry for ever on a full disk. This listener runs before pino's own.
  process.on('exit', () => hasFailed && output.destroy())
  // Linux writes up to 4 KB to a pipe at once, so lines of several processes do not mix.
  const output = pino.destination({ sync: false, maxLength: 1_000_000, maxWrite: 4096 })
  output.on('error', () => {
    hasFailed = true
  })
  output.on('drain', () => {
    hasFailed = false
  })
  return output
}
