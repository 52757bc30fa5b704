import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Browser } from '../src/auth/testing/browser.ts'
import { registered, startOIDC } from '../src/auth/testing/oidc-server.ts'
import { ProviderVisitor } from '../src/auth/testing/provider-visitor.ts'
import { begin } from '../src/auth/testing/sign-in-with.ts'
import { freePort, type Program, startProgram } from './testing/program.ts'

describe('examples/openid.ts with node-oidc-provider', () => {
  // The provider has to know the callback URL before the program has its port, so a proxy stands before the program.
  const proxy = createServer()
  let origin: string
  let program: Program
  let provider: Awaited<ReturnType<typeof startOIDC>>

  before(async () => {
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    provider = await startOIDC(`${origin}/login/callback`)
    const { clientId, clientSecret } = registered
    const environment = {
      ORIGIN: origin,
      ISSUER: provider.issuer,
      CLIENT_ID: clientId,
      CLIENT_SECRET: clientSecret,
    }
    const options = ['--conditions=@koa-authenticators/source', ...freePort]
    program = await startProgram([...options, join(import.meta.dirname, 'openid.ts')], environment)
    proxy.on('request', forwardTo(program.url))
  })

  after(async () => {
    proxy.closeAllConnections()
    proxy.close()
    await provider.close()
    assert.equal((await program.stop()).errors, '')
  })

  test('V1 signs in with an independent provider, and remembers the user', async () => {
    const ada = new Browser(origin)
    assert.equal((await ada.get('/account')).status, 401)
    const answer = await new ProviderVisitor('ada').open(await begin(ada, '/login'))
    assert.equal(answer.searchParams.get('iss'), provider.issuer)
    const back = await ada.get(answer.pathname + answer.search)
    assert.equal(back.headers.get('location'), '/account')
    assert.equal(await (await ada.get('/account')).text(), 'The account of ada')
    assert.equal((await new Browser(origin).get(answer.pathname + answer.search)).status, 401)
  })

  test('signs in nobody who cancels at the provider', async () => {
    const eve = new Browser(origin)
    const answer = await new ProviderVisitor('eve').open(await begin(eve, '/login'), { cancel: true })
    assert.equal(answer.searchParams.get('error'), 'access_denied')
    assert.equal((await eve.get(answer.pathname + answer.search)).status, 401)
  })
})

function forwardTo(url: string): RequestListener {
  return (incoming, outgoing) => {
    const { method, headers, url: path = '' } = incoming
    const forwarded = request(new URL(path, url), { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(outgoing)
    })
    incoming.pipe(forwarded)
  }
}
