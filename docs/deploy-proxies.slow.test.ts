import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { selfSigned } from '../src/testing/certificate.ts'
import { findProgram, onlyWith } from '../src/testing/debian-programs.ts'
import { until } from '../src/testing/faults/until.ts'
import { freePort } from '../src/testing/free-port.ts'
import { password, registration } from '../src/testing/people.ts'
import { startServer, temporaryFolder } from '../src/testing/server-process.ts'

const deploy = join(import.meta.dirname, '../deploy')

interface Places {
  readonly folder: string
  readonly certificate: string
  /** The port of the proxy, and the address of the site. */
  readonly port: number
  readonly site: string
}

interface Proxy {
  readonly file: string
  /** Changes the addresses and the time limits in the text of the file. */
  readonly adapt: (text: string, places: Places) => string
  readonly start: (path: string, places: Places) => ChildProcess
  /** The path of a certificate that the proxy creates. Without it, the proxy has the certificate of the places. */
  readonly authority?: string
}

/** Starts the site behind a proxy. `send` sends a request to the proxy from 127.0.0.2. */
async function startBehind(t: TestContext, { file, adapt, start, authority }: Proxy) {
  const [folder, port, sitePort] = [await temporaryFolder(t), await freePort(), await freePort()]
  const places = { folder, port, site: `127.0.0.1:${sitePort}`, certificate: join(folder, 'certificate.pem') }
  const { key, cert } = selfSigned()
  await writeFile(places.certificate, key + cert)
  const host = `localhost:${port}`
  const variables = {
    DATA_DIR: await temporaryFolder(t),
    PORT: String(sitePort),
    PUBLIC_URL: `https://${host}`,
    TRUST_PROXY: '1',
  }
  const restart = () => startServer(t, variables)
  const site = await restart()
  const path = join(folder, file)
  await writeFile(path, adapt(readFileSync(join(deploy, file), 'utf8'), places))
  const child = start(path, places)
  const ended = once(child, 'close')
  t.after(async () => {
    // nginx also ends its workers.
    child.kill('SIGTERM')
    await ended
  })

  const send = async (target: string, headers = {}, body?: unknown): Promise<IncomingMessage> => {
    const ca = readFileSync(authority ? join(folder, authority) : places.certificate)
    const address = { host: '127.0.0.1', port, localAddress: '127.0.0.2', servername: 'localhost', ca }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const outgoing = request({
      ...address,
      agent: false,
      path: target,
      method: body === undefined ? 'GET' : 'POST',
      headers: { host, ...type, ...headers },
    })
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = await once(outgoing, 'response')
    return response.resume()
  }
  await until('the proxy serves the site', async () => {
    if (child.exitCode !== null) throw new Error(`The proxy has ended with ${child.exitCode}.`)
    return (await send('/readyz').catch(() => undefined))?.statusCode === 200
  })
  return { site, send, restart, origin: variables.PUBLIC_URL }
}

/** Asserts that the site sees the address and the scheme of a visitor, and nothing that the visitor claims. */
async function assertClaimsReplaced({ site, send, origin }: Awaited<ReturnType<typeof startBehind>>) {
  const claims = {
    'x-forwarded-for': '203.0.113.7',
    'x-forwarded-proto': 'http',
    'x-request-id': 'visitor-4711',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  }
  const created = await send('/users', { origin, ...claims }, registration('Ada'))
  assert.equal(created.statusCode, 201)
  assert.match(String(created.headers['strict-transport-security']), /^max-age=/)
  const lineOf = () => site.log.find((each) => each['url.path'] === '/users')
  await until('the log has the request', () => lineOf() !== undefined)
  const line = lineOf() ?? assert.fail()
  assert.equal(line['client.address'], '127.0.0.2')
  assert.equal(line.request, created.headers['x-request-id'])
  assert.deepEqual([line.request === claims['x-request-id'], line.trace_id], [false, undefined])
  const signedIn = await send('/login', { origin }, { username: 'ada@example.com', password })
  assert.equal(signedIn.statusCode, 200)
  assert.match(String(signedIn.headers['set-cookie']), /__Host-session=[^;]+;.*\bsecure\b/i)
}

const caddy: Proxy = {
  file: 'Caddyfile',
  authority: 'caddy/pki/authorities/local/root.crt',
  adapt: (text, { site }) =>
    `{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n${text}`
      .replace('reverse_proxy site:3000', `bind 127.0.0.1\n\treverse_proxy ${site}`)
      .replace(/(health_timeout|lb_try_duration) \w+/g, '$1 600s'),
  start: (path, { folder, port }) =>
    spawn(findProgram('caddy') ?? '', ['run', '--adapter', 'caddyfile', '--config', path], {
      env: { HOME: folder, XDG_DATA_HOME: folder, PUBLIC_URL: `https://localhost:${port}` },
      stdio: 'ignore',
    }),
}

describe('the proxies in deploy', () => {
  test('replace the claims of visitors: HAProxy', onlyWith('haproxy'), async (t) => {
    const proxy = await startBehind(t, {
      file: 'haproxy.cfg',
      adapt: (text, { port, site, certificate }) =>
        text
          .replace(/maxconn \d+/, 'maxconn 200')
          .replace(/^\t(?:user|group) .*\n|^\tbind :80\n/gm, '')
          .replace(/:443 ssl crt \S+/, `127.0.0.1:${port} ssl crt ${certificate}`)
          .replace(/(timeout (?:connect|client|server|queue)) \w+/g, '$1 600s')
          .replace(/^\tdefault-server .*\n/m, '')
          .replace(/(^\tserver .*\n)+/m, `\tserver one ${site}\n`),
      start: (path) => spawn(findProgram('haproxy') ?? '', ['-db', '-f', path], { stdio: 'ignore' }),
    })
    await assertClaimsReplaced(proxy)
  })

  test('replace the claims of visitors: nginx', onlyWith('nginx'), async (t) => {
    const proxy = await startBehind(t, {
      file: 'nginx.conf',
      adapt: (text, { folder, port, site, certificate }) =>
        text
          .replace('http {', 'http {\n  access_log off;')
          .replace(/(\s+server 10\..*;)+/, `\n    server ${site};`)
          .replace('listen 443', `listen 127.0.0.1:${port}`)
          .replace('listen 80', `listen unix:${folder}/redirect.sock`)
          .replaceAll(/\/etc\/ssl\/[^;]+/g, certificate)
          .replace(/(proxy_connect_timeout) \w+/, '$1 75s'),
      start: (path, { folder }) => {
        const settings = `daemon off; pid ${folder}/pid;`
        const options = ['-c', path, '-p', folder, '-e', 'stderr', '-g', settings]
        return spawn(findProgram('nginx') ?? '', options, { stdio: 'ignore' })
      },
    })
    await assertClaimsReplaced(proxy)
  })

  test(
    'replace the claims of visitors: Caddy, with a certificate of its own',
    onlyWith('caddy'),
    async (t) => {
      await assertClaimsReplaced(await startBehind(t, caddy))
    },
  )

  test('let requests wait while the site restarts: Caddy', onlyWith('caddy'), async (t) => {
    const { site, send, restart } = await startBehind(t, caddy)
    site.child.kill('SIGTERM')
    await site.ended
    const answers = [send('/login'), send('/login')]
    await restart()
    for (const answer of answers) assert.equal((await answer).statusCode, 200)
  })
})
