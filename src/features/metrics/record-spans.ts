import { subscribe } from 'node:diagnostics_channel'
import { propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import { type FinishedRequest, requestFinished } from '../../site/request-log.ts'
import { requestAttributes } from './request-attributes.ts'

/** Records a span for each request, in the trace that a trusted proxy has named. */
export function recordSpans(tracer: Tracer): void {
  subscribe(requestFinished.name, (message) => {
    const { ctx, start, duration } = message as FinishedRequest
    const attributes = requestAttributes(ctx)
    const parent = ctx.isFromProxy ? propagation.extract(ROOT_CONTEXT, ctx.headers) : ROOT_CONTEXT
    const startTime = performance.timeOrigin + start
    const name = `${ctx.method} ${attributes['http.route'] ?? ''}`.trim()
    const span = tracer.startSpan(name, { kind: SpanKind.SERVER, startTime, attributes }, parent)
    if (ctx.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end(startTime + duration * 1000)
  })
}
