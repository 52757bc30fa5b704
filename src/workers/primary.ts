import type { Config } from '../config.ts'
import { openDatabase } from '../database/open-database.ts'
import type { Logger } from '../log.ts'
import { schema } from '../schema.ts'
import { stopOnSignals } from '../stop-signals.ts'
import { Workers } from './workers.ts'

/**
 * Serves by several processes, which share the port. On SIGHUP they are replaced one by one, and lose no request: the new
 * ones read the code anew, and the files that the environment names, but the environment is what this process has.
 * @throws when the workers cannot start, at the beginning or later
 */
export async function lead(config: Config, log: Logger): Promise<never> {
  // What is wrong with the database is said once, and the workers find its schema up to date.
  const orm = await openDatabase(config.databaseUrl, schema)
  await orm.close()

  const workers = new Workers(config, log)
  stopOnSignals(log, { inOrder: () => workers.stop(), atOnce: () => workers.kill() })
  process.on('SIGHUP', () => workers.restart())
  const url = await workers.start()
  for (const warning of config.warnings) log.warn(warning)
  log.info({ url, workers: config.workers }, 'listening')
  return workers.lost
}
