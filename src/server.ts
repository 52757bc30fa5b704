import { type Config, readConfig } from './config.ts'
import type { Logger } from './log.ts'
import { processLog } from './log/process-log.ts'
import { serve } from './serving.ts'
import { startProblem } from './start-problem.ts'
import { stopOnSignals } from './stop-signals.ts'
import { lead } from './workers/primary.ts'

try {
  const config = readConfig()
  const log = await processLog(config)
  await (config.workers === 1 ? serveAlone(config, log) : lead(config, log))
} catch (error) {
  console.error(startProblem(error) ?? error)
  process.exit(1)
}

async function serveAlone(config: Config, log: Logger): Promise<void> {
  const serving = await serve(config, log)
  // Not before: a start that fails says why, and nothing else.
  for (const warning of config.warnings) log.warn(warning)
  serving.purge()
  stopOnSignals(log, { inOrder: serving.stop })
  // Last, so that whoever waits for this line can stop us from then on.
  log.info({ url: serving.url }, 'listening')
}
