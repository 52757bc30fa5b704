import { subscribe } from 'node:diagnostics_channel'
import type { Meter } from '@opentelemetry/api'
import { isPostgres } from '../../database/is-postgres.ts'
import { statementDone } from '../../database/statements.ts'
import { refusals } from '../../site/audit.ts'
import { type FinishedRequest, requestFinished } from '../../site/request-log.ts'
import { observeDatabase, type Sources } from './observe-database.ts'
import { observeProcess } from './observe-process.ts'
import { requestAttributes } from './request-attributes.ts'

// The boundaries that OpenTelemetry's conventions advise, in seconds.
const ofRequests = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const ofStatements = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]

/** Records the metrics of the site, in OpenTelemetry's names where its conventions have one. */
export function recordMetrics(meter: Meter, sources: Sources): void {
  recordRequests(meter)
  const system = isPostgres(sources.orm.em) ? 'postgresql' : 'sqlite'
  const statements = meter.createHistogram('db.client.operation.duration', {
    description: 'Duration of statements',
    ...seconds(ofStatements),
  })
  subscribe(statementDone.name, (duration) =>
    statements.record(duration as number, { 'db.system.name': system }),
  )
  observeDatabase(meter, sources)
  observeProcess(meter)
}

function recordRequests(meter: Meter): void {
  const requests = meter.createHistogram('http.server.request.duration', {
    description: 'Duration of requests',
    ...seconds(ofRequests),
  })
  const events = meter.createCounter('koa_authenticators.events', {
    description: 'Events of the audit trail, such as "signed in", "credentials refused" and "throttled"',
  })
  // Alerts compare these events. Without a value, a comparison has no result.
  for (const event of ['signed in', ...refusals]) events.add(0, { event })
  subscribe(requestFinished.name, (message) => {
    const { ctx, duration } = message as FinishedRequest
    requests.record(duration, requestAttributes(ctx))
    for (const { event } of ctx.events ?? []) events.add(1, { event })
  })
}

function seconds(explicitBucketBoundaries: number[]) {
  return { unit: 's', advice: { explicitBucketBoundaries } }
}
