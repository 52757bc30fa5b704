import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { until } from '../../testing/faults/until.ts'
import { signIn, signUp } from '../../testing/people.ts'
import { startServer, temporaryFolder } from '../../testing/server-process.ts'
import { isOnPostgres } from '../../testing/test-database.ts'

/** The samples by name and labels, without the buckets. */
async function scrape(port: unknown): Promise<Record<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const samples = text.split('\n').filter((line) => /^\w/.test(line) && !line.includes('_bucket'))
  return Object.fromEntries(
    samples.map((line) => line.split(/ (?=\S+$)/)).map(([name, value]) => [name, Number(value)]),
  )
}

describe('METRICS_PORT', () => {
  test('serves the requests by route and status, the events and the state of the site', async (t) => {
    const site = await startServer(t, { DATA_DIR: await temporaryFolder(t), METRICS_PORT: '0' })
    const { port } = await site.says('metrics are served')
    await signIn(site, await signUp(site))
    await site.visitor().get('/me')
    await site.visitor().get('/problems/conflict')
    await site.visitor().get('/readyz')
    await until('the mails are sent', async () => (await scrape(port)).koa_authenticators_mails_waiting === 0)
    const samples = await scrape(port)
    const request = (method: string, status: number, route: string) =>
      samples[
        `http_server_request_duration_count{http_request_method="${method}",http_response_status_code="${status}",http_route="${route}",url_scheme="http"}`
      ]
    assert.deepEqual(
      [
        request('POST', 303, '/login'),
        request('GET', 401, '/me'),
        request('GET', 200, '/problems/:code'),
        request('GET', 200, '/readyz'),
      ],
      [1, 1, 1, 1],
    )
    assert.equal(samples['koa_authenticators_events_total{event="signed in"}'], 1)
    const system = isOnPostgres ? 'postgresql' : 'sqlite'
    assert.ok(Number(samples[`db_client_operation_duration_count{db_system_name="${system}"}`]) > 5)
    assert.ok(Number(samples.nodejs_eventloop_delay_p99) > 0)
    const zero = [
      'koa_authenticators_events_total{event="throttled"}',
      'koa_authenticators_mails_waiting',
      'koa_authenticators_mails_oldest_age',
      'koa_authenticators_purge_backlog',
      'koa_authenticators_audit_waiting',
      'koa_authenticators_password_hashes{state="waiting"}',
      'koa_authenticators_password_hashes_refused_total',
    ]
    for (const name of zero) assert.equal(samples[name], 0, name)
    const pool = 'db_client_connection_pool_name="site"'
    assert.equal(samples[`db_client_connection_timeouts_total{${pool}}`], isOnPostgres ? 0 : undefined)
  })

  test('serves each worker on a port of its own', async (t) => {
    const variables = { DATA_DIR: await temporaryFolder(t), METRICS_PORT: '0', WORKERS: '2' }
    const site = await startServer(t, variables)
    const ports = () => site.log.filter(({ msg }) => msg === 'metrics are served').map(({ port }) => port)
    await until('both workers serve metrics', () => ports().length === 2)
    assert.equal(new Set(ports()).size, 2)
    for (const port of ports()) assert.equal((await scrape(port)).koa_authenticators_purge_backlog, 0)
  })
})

// An SDK that prints its spans.
const sdk = `
  import { trace } from '@opentelemetry/api'
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan(name, { attributes }) {
    const status = attributes['http.response.status_code']
    return { setStatus() {}, end() { console.log(JSON.stringify({ msg: 'span', name, status })) } }
  } }) })`

describe('an SDK of OpenTelemetry', () => {
  test('gets a span for each request', async (t) => {
    const program = sdk.replaceAll(/from '(.*?)'/g, (_, name) => `from '${import.meta.resolve(name)}'`)
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(program)}`
    const site = await startServer(t, { DATA_DIR: await temporaryFolder(t), NODE_OPTIONS })
    await site.visitor().get('/problems/conflict')
    const { name, status } = await site.says('span')
    assert.deepEqual([name, status], ['GET /problems/:code', 200])
  })
})
