import type { Config } from '../../config/config.ts'
import type { Logger } from '../../log/log.ts'
import type { Sources } from './observe-database.ts'

// The key of OpenTelemetry's API, which exists if the process was started with an SDK.
const sdk = Symbol.for('opentelemetry.js.api.1')

/**
 * Serves metrics for Prometheus at `METRICS_PORT`. If the process was started with an SDK of OpenTelemetry, records metrics and spans with
 * it, too. Otherwise, loads nothing.
 */
export async function startMetrics(config: Config, sources: Sources, log: Logger): Promise<void> {
  const { host, metricsPort: port } = config
  if (port !== undefined) {
    const { servePrometheus } = await import('./serve-prometheus.ts')
    log.info({ port: await servePrometheus({ host, port }, sources) }, 'metrics are served')
  }
  if (sdk in globalThis) (await import('./record-with-sdk.ts')).recordWithSdk(sources)
}
