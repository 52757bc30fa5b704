import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Browser } from '../src/auth/testing/browser.ts'
import { type Forwarder, startForwarder } from '../src/auth/testing/forwarder.ts'
import { registered, startOIDC } from '../src/auth/testing/oidc-server.ts'
import { ProviderVisitor } from '../src/auth/testing/provider-visitor.ts'
import { begin } from '../src/auth/testing/sign-in-with.ts'
import { freePort, type Program, startProgram } from './testing/program.ts'

describe('examples/openid.ts with node-oidc-provider', () => {
  // The provider has to know the callback URL before the program has its port.
  let forwarder: Forwarder
  let origin: string
  let program: Program
  let provider: Awaited<ReturnType<typeof startOIDC>>

  before(async () => {
    forwarder = await startForwarder()
    origin = forwarder.origin
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
    forwarder.to(program.url)
  })

  after(async () => {
    forwarder.close()
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
