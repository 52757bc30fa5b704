import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import type { Sources } from './observe-database.ts'
import { recordMetrics } from './record-metrics.ts'

/** Serves the metrics in the format of Prometheus on a port of their own, until the process exits. Returns the port. */
export async function servePrometheus(
  address: { readonly host: string; readonly port: number },
  sources: Sources,
): Promise<number> {
  const exporter = new PrometheusExporter({
    preventServerStart: true,
    withoutScopeInfo: true,
    withoutTargetInfo: true,
  })
  recordMetrics(new MeterProvider({ readers: [exporter] }).getMeter('koa-authenticators'), sources)
  const server = createServer((request, response) => exporter.getMetricsRequestHandler(request, response))
  // `exclusive`, because workers would share a port.
  server.listen({ ...address, exclusive: true }).unref()
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
