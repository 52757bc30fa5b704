import { metrics, trace } from '@opentelemetry/api'
import type { Sources } from './observe-database.ts'
import { recordMetrics } from './record-metrics.ts'
import { recordSpans } from './record-spans.ts'

const name = 'koa-authenticators'

/** Records metrics and spans with the SDK of the process, until the process exits. */
export function recordWithSdk(sources: Sources): void {
  recordMetrics(metrics.getMeter(name), sources)
  recordSpans(trace.getTracer(name))
}
