import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { onlyWith } from '../../testing/debian-programs.ts'
import { startLoadedSite } from '../../testing/faults/loaded-site.ts'
import { startHAProxy } from '../../testing/haproxy.ts'
import { connectTo } from '../../testing/postgres-connection.ts'
import { type PostgresServer, startPostgres } from '../../testing/postgres-server.ts'
import { startStandby } from '../../testing/postgres-standby.ts'

/** Responds to `GET /primary` as Patroni does: 200 if the server is the primary. Returns the port. */
async function startPatroni(t: TestContext, { url }: PostgresServer): Promise<number> {
  let connection: ReturnType<typeof connectTo> | undefined
  const server = createServer(async (_request, response) => {
    connection ??= connectTo(url)
    const rows = await connection
      .then((open) => open.execute<{ standby: boolean }[]>('select pg_is_in_recovery() as standby'))
      .catch(() => {
        connection = undefined
        return []
      })
    response.writeHead(rows[0]?.standby === false ? 200 : 503).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  return (server.address() as AddressInfo).port
}

describe('a failover to a synchronous standby behind HAProxy', onlyWith('haproxy'), () => {
  test('N5 loses no acknowledged write, and the site recovers without a restart', async (t) => {
    const primary = await startPostgres({ isDurable: true })
    t.after(() => primary.stop())
    const standby = await startStandby(primary)
    t.after(() => standby.stop())
    const both = await Promise.all(
      [primary, standby].map(async (server) => ({
        port: Number(new URL(server.url).port),
        checkPort: await startPatroni(t, server),
      })),
    )
    const proxy = await startHAProxy(t, 'postgres-haproxy.cfg', both)
    const url = new URL(primary.url)
    url.port = String(proxy.port)
    const site = await startLoadedSite(t, { url: url.href })
    await site.more(60)

    const start = performance.now()
    await primary.end('SIGQUIT')
    await site.assertUnavailable()
    await (await connectTo(standby.url)).execute('select pg_promote()')
    await site.assertRecovered()
    t.diagnostic(`The site was unavailable for ${((performance.now() - start) / 1000).toFixed(1)} s.`)
    await site.more(60)
    await site.assertNothingLost()
  })
})
