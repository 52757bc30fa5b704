import cluster from 'node:cluster'
import { startWorkers } from '../commands/workers/workers.ts'
import { readConfig } from '../config/config.ts'
import { processLog } from '../config/process-log.ts'
import { stopOnSignals } from '../http/stop-signals.ts'
import { serve } from '../serving.ts'

// The server with time limits so long that no test meets them on a busy machine.
const long = 600_000

const config = readConfig()
const log = await processLog(config)
if (cluster.isPrimary && config.workers > 1) {
  cluster.setupPrimary({ args: ['testing/patient-server'] })
  await startWorkers(config, log)
} else {
  const serving = await serve(config, log, {
    database: long,
    http: {
      headersTimeout: long,
      requestTimeout: long,
      keepAliveTimeout: long,
      timeout: long,
      gracePeriod: long,
      longestRequest: long,
    },
  })
  stopOnSignals(log, () => serving.stop())
  if (cluster.isWorker) log.info('a worker listens')
  else log.info({ url: serving.url }, 'listening')
}
