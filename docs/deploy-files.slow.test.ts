import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { selfSigned } from '../src/testing/certificate.ts'
import { findProgram, onlyWith } from '../src/testing/debian-programs.ts'
import { temporaryFolder } from '../src/testing/server-process.ts'

const root = join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
// The file of Caddy reads a variable.
const env = { ...process.env, PUBLIC_URL: 'https://example.com' }
const run = (name: string, ...args: string[]) => promisify(execFile)(findProgram(name) ?? '', args, { env })

/** Writes a file of `deploy` with the path of a certificate that exists. Returns its path and its folder. */
async function withCertificate(t: TestContext, file: string) {
  const folder = await temporaryFolder(t)
  const { key, cert } = selfSigned()
  const [both, path] = [join(folder, 'certificate.pem'), join(folder, 'configuration')]
  await writeFile(both, key + cert)
  const text = read(`deploy/${file}`)
  assert.match(text, /\/etc\/\S+\.(pem|key)/)
  await writeFile(path, text.replaceAll(/\/etc\/[^\s;]+\.(pem|key)/g, both))
  return { path, folder }
}

/** The documents of a YAML file. Throws at a mistake, such as a repeated key. */
function parse(file: string): { readonly kind?: string }[] {
  return parseAllDocuments(read(file), { merge: true }).map((document) => {
    assert.deepEqual(document.errors, [], file)
    return document.toJS()
  })
}

/** The value of a setting in the text of a file, as a number. */
function numberIn(file: string, pattern: RegExp): number {
  return Number(read(file).match(pattern)?.[1] ?? assert.fail(`${file}: ${pattern}`))
}

describe('the files in deploy', () => {
  test('are valid for HAProxy', onlyWith('haproxy'), async (t) => {
    const { path } = await withCertificate(t, 'haproxy.cfg')
    await run('haproxy', '-c', '-f', path)
    await run('haproxy', '-c', '-f', join(root, 'deploy/postgres-haproxy.cfg'))
  })

  test('are valid for nginx', onlyWith('nginx'), async (t) => {
    const { path, folder } = await withCertificate(t, 'nginx.conf')
    await run('nginx', '-t', '-c', path, '-p', folder, '-e', 'stderr', '-g', `pid ${folder}/pid;`)
  })

  test('are valid for Caddy', onlyWith('caddy'), async () => {
    await run('caddy', 'validate', '--adapter', 'caddyfile', '--config', join(root, 'deploy/Caddyfile'))
  })

  test('are valid for Prometheus', onlyWith('promtool'), async () => {
    await run('promtool', 'check', 'config', join(root, 'deploy/prometheus.yml'))
  })

  test(
    'alert an operator of failed requests, but not of failed health checks',
    onlyWith('promtool'),
    async (t) => {
      const requests = (route: string, status: number, perMinute: number) => ({
        series: `http_server_request_duration_count{job="site",http_route="${route}",http_response_status_code="${status}"}`,
        values: `0+${perMinute}x20`,
      })
      const alertsAfter = (labels: string[], ...series: object[]) => ({
        interval: '1m',
        input_series: series,
        promql_expr_test: [
          {
            expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
            eval_time: '20m',
            exp_samples: labels.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
          },
        ],
      })
      const events = (event: string, perMinute: number) => ({
        series: `koa_authenticators_events_total{job="site",event="${event}"}`,
        values: `0+${perMinute}x20`,
      })
      const tests = [
        alertsAfter([], requests('/login', 200, 60), requests('/readyz', 503, 60)),
        alertsAfter(['ServerErrors'], requests('/login', 200, 60), requests('/me', 503, 60)),
        alertsAfter(['CredentialStuffing'], events('credentials refused', 600), events('signed in', 0)),
      ]
      const path = join(await temporaryFolder(t), 'test.yml')
      // JSON is YAML.
      const rule_files = [join(root, 'deploy/prometheus-rules.yml')]
      await writeFile(path, JSON.stringify({ rule_files, evaluation_interval: '1m', tests }))
      await run('promtool', 'test', 'rules', path)
    },
  )

  test('are valid YAML with the expected parts', () => {
    const kinds = parse('deploy/kubernetes.yaml').map(({ kind }) => kind)
    assert.deepEqual(kinds, ['Deployment', 'Service', 'PodDisruptionBudget'])
    const [compose] = parse('compose.yaml')
    assert.deepEqual(Object.keys(Object(compose).services), ['proxy', 'site', 'database'])
  })

  test('give the site the time to stop: DRAIN_SECONDS and ten seconds', () => {
    const compose = 'compose.yaml'
    const unit = 'deploy/koa-authenticators.service'
    const kubernetes = 'deploy/kubernetes.yaml'
    for (const [drain, longest] of [
      [numberIn(compose, /DRAIN_SECONDS: '(\d+)'/), numberIn(compose, /stop_grace_period: (\d+)s/)],
      [numberIn(unit, /DRAIN_SECONDS=(\d+)/), numberIn(unit, /TimeoutStopSec=(\d+)/)],
      [
        numberIn(kubernetes, /DRAIN_SECONDS, value: '(\d+)'/),
        numberIn(kubernetes, /terminationGracePeriodSeconds: (\d+)/),
      ],
    ] as const)
      assert.ok(longest > drain + 10, `${drain}, ${longest}`)
  })
})
