import cluster from 'node:cluster'
import { problemOf } from './commands/command-error.ts'
import { startWorkers } from './commands/workers/workers.ts'
import { type Config, readConfig } from './config/config.ts'
import { processLog } from './config/process-log.ts'
import { stopOnSignals } from './http/stop-signals.ts'
import type { Logger } from './log/log.ts'
import { serve } from './serving.ts'

try {
  const config = readConfig()
  const log = await processLog(config)
  if (cluster.isPrimary && config.workers > 1) {
    cluster.setupPrimary({ args: ['server'] })
    await startWorkers(config, log)
  } else await serveHere(config, log)
} catch (error) {
  console.error(problemOf(error))
  process.exit(1)
}

async function serveHere(config: Config, log: Logger): Promise<void> {
  const serving = await serve(config, log)
  stopOnSignals(log, () => serving.stop())
  if (cluster.isWorker) return log.info('a worker listens')
  // Logged after the start, because a failed start prints only its reason.
  for (const warning of config.warnings) log.warn(warning)
  // Logged after the signal handlers are set, because a process that waits for this line may send a signal immediately.
  log.info({ url: serving.url }, 'listening')
}
