import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { findProgram, onlyWith } from '../../testing/debian-programs.ts'
import { until } from '../../testing/faults/until.ts'
import { freePort } from '../../testing/free-port.ts'
import { signIn, signUp } from '../../testing/people.ts'
import { startServer, temporaryFolder } from '../../testing/server-process.ts'
import { isOnPostgres } from '../../testing/test-database.ts'

const deploy = join(import.meta.dirname, '../../../deploy')
const read = (file: string) => readFileSync(join(deploy, file), 'utf8')

/** Starts Prometheus with the files of `deploy`, for a site at this port. Returns a function that calls its API. */
async function startPrometheus(t: TestContext, port: unknown) {
  const folder = await temporaryFolder(t)
  const config = read('prometheus.yml')
    .replace(/targets: .*/, `targets: ['127.0.0.1:${port}']`)
    .replace('scrape_interval: 15s', 'scrape_interval: 1s')
  await writeFile(join(folder, 'prometheus.yml'), config)
  await writeFile(join(folder, 'prometheus-rules.yml'), read('prometheus-rules.yml'))
  const address = `127.0.0.1:${await freePort()}`
  const options = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`]
  const child = spawn(findProgram('prometheus') ?? '', [...options, `--web.listen-address=${address}`])
  t.after(async () => void child.kill('SIGKILL'))
  return async <Data>(path: string): Promise<Data | undefined> => {
    const response = await fetch(`http://${address}/api/v1/${path}`).catch(() => undefined)
    if (!response?.ok) return undefined
    // The caller knows the type of the data.
    const { data } = (await response.json()) as { data: Data }
    return data
  }
}

interface Rules {
  readonly groups: { readonly rules: { readonly query: string }[] }[]
}

/** The expressions of the dashboard for the job `site`. */
function dashboard(): string[] {
  const { panels } = JSON.parse(read('grafana-dashboard.json'))
  const targets: { expr: string }[] = panels.flatMap(({ targets }: { targets: object[] }) => targets)
  return targets.map(({ expr }) => expr.replaceAll('$job', 'site').replaceAll('$__rate_interval', '1m'))
}

describe('Prometheus', onlyWith('prometheus'), () => {
  test('reads the metrics, and knows each metric of the rules and the dashboard', async (t) => {
    const site = await startServer(t, { DATA_DIR: await temporaryFolder(t), METRICS_PORT: '0' })
    await signIn(site, await signUp(site))
    const prometheus = await startPrometheus(t, (await site.says('metrics are served')).port)
    const query = (expression: string) =>
      prometheus<{ result: object[] }>(`query?query=${encodeURIComponent(expression)}`)
    await until('the site was read', async () => (await query('up{job="site"} == 1'))?.result.length === 1)

    const { groups } = (await prometheus<Rules>('rules')) ?? assert.fail()
    const alerts = groups.flatMap(({ rules }) => rules.map(({ query }) => query))
    const expressions = [...alerts, ...dashboard()]
    assert.ok(expressions.length > 20)
    for (const each of expressions) assert.ok(await query(each), each)

    const names = (await prometheus<string[]>('label/__name__/values')) ?? []
    const used = expressions.flatMap((each) => each.match(/\b(?:http|db|nodejs|koa)_\w+(?=\{)/g) ?? [])
    const unknown = used.filter((name) => !names.includes(name))
    // SQLite has no pool.
    assert.deepEqual(
      isOnPostgres ? unknown : unknown.filter((name) => !/^db_client_connection/.test(name)),
      [],
    )
  })
})
