import cluster from 'node:cluster'
import { startProblem } from './commands/command-error.ts'
import { startWorkers } from './commands/workers/primary.ts'
import { followPrimary } from './commands/workers/worker.ts'
import { type Config, readConfig } from './config/config.ts'
import { collectGarbageOfStart } from './http/collect-garbage.ts'
import { stopOnSignals } from './http/stop-signals.ts'
import type { Logger } from './log/log.ts'
import { processLog } from './log/process-log.ts'
import { serve } from './serving.ts'

try {
  const config = readConfig()
  const log = await processLog(config)
  if (cluster.isWorker) await serveAsWorker(config, log)
  else if (config.workers > 1) await startWorkers(config, log)
  else await serveAlone(config, log)
} catch (error) {
  console.error(startProblem(error) ?? error)
  process.exit(1)
}

async function serveAlone(config: Config, log: Logger): Promise<void> {
  const serving = await serve(config, log)
  // Logged after the start, because a failed start prints only its reason.
  for (const warning of config.warnings) log.warn(warning)
  stopOnSignals(log, () => serving.stop({ drain: true }))
  // Logged after the signal handlers are set, because a process that waits for this line may send a signal immediately.
  log.info({ url: serving.url }, 'listening')
  collectGarbageOfStart()
}

async function serveAsWorker(config: Config, log: Logger): Promise<void> {
  const starting = serve(config, log)
  // Called before the worker listens, because the primary may stop a listening worker at any time.
  followPrimary(starting, log)
  await starting
  collectGarbageOfStart()
}
