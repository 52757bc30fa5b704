import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { SignJWT } from 'jose'
import type { AuthContext } from '../auth.ts'
import { CookieFlows } from './cookie-flows.ts'
import { flowLifetime } from './flow.ts'

const secret = 'a secret of thirty-two characters'
const flow = { provider: 'company', data: { next: '/after' } }

/** A browser with cookies, and the context of its next request. */
function cookieJar() {
  const jar = new Map<string, string>()
  const lines: string[] = []
  const append = (_name: string, line: string) => {
    lines.push(line)
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    if (value === '') jar.delete(name)
    else jar.set(name, value)
  }
  const context = () => {
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ')
    // The store only reads the header and appends cookies.
    return { req: { headers: { cookie } }, append } as unknown as AuthContext
  }
  return { jar, lines, context }
}

function freezeTime(t: TestContext): { forward(milliseconds: number): void } {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  return { forward: (milliseconds) => t.mock.timers.setTime(Date.now() + milliseconds) }
}

describe('CookieFlows', () => {
  it('gives a flow back once', async () => {
    const { context } = cookieJar()
    const flows = new CookieFlows({ secret })
    const started = await flows.start(context(), flow)
    assert.deepEqual(await flows.finish(context(), started.state), started)
    assert.equal(await flows.finish(context(), started.state), undefined)
  })

  it('V21 forgets a flow after ten minutes', async (t) => {
    const time = freezeTime(t)
    const { jar, context } = cookieJar()
    const flows = new CookieFlows({ secret })
    const { state } = await flows.start(context(), flow)
    const [name = '', value = ''] = [...jar][0] ?? []
    time.forward(flowLifetime - 1000)
    assert.ok(await flows.finish(context(), state))
    jar.set(name, value)
    time.forward(1000)
    assert.equal(await flows.finish(context(), state), undefined)
  })

  it('refuses a changed cookie, one of another secret, and another token of the secret', async () => {
    const { jar, context } = cookieJar()
    const flows = new CookieFlows({ secret })
    const started = await flows.start(context(), flow)
    const { state } = started
    const [name = '', value = ''] = [...jar][0] ?? []
    const [header = '', , signature = ''] = value.split('.')
    const forged = Buffer.from(JSON.stringify({ ...started, data: {}, exp: 4e9 })).toString('base64url')
    const other = new SignJWT({ ...started }).setProtectedHeader({ alg: 'HS256' }).setExpirationTime('1h')
    for (const changed of [
      `${header}.${forged}.${signature}`,
      value.slice(0, -2),
      await other.sign(Buffer.from(secret)),
      'x',
      '',
    ]) {
      jar.set(name, changed)
      assert.equal(await flows.finish(context(), state), undefined, changed)
    }
    jar.set(name, value)
    assert.equal(await new CookieFlows({ secret: `${secret}!` }).finish(context(), state), undefined)
    assert.ok(await flows.finish(context(), state))
  })

  it('refuses the cookie of another flow under the name of this one', async () => {
    const { jar, context } = cookieJar()
    const flows = new CookieFlows({ secret })
    await flows.start(context(), flow)
    const { state } = await flows.start(context(), flow)
    const [[, value], [name]] = [...jar] as [[string, string], [string, string]]
    jar.set(name, value)
    assert.equal(await flows.finish(context(), state), undefined)
  })

  it('V33 sets a cookie for this host only, whose name does not contain the state', async () => {
    const { lines, context } = cookieJar()
    const { state } = await new CookieFlows({ secret }).start(context(), flow)
    assert.match(
      String(lines[0]),
      /^__Host-flow-[\w-]{16}=.*; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    )
    assert.ok(!String(lines[0]).split('=')[0]?.includes(state.slice(0, 16)))
  })

  it('rejects a short secret', () => {
    assert.throws(() => new CookieFlows({ secret: 'short' }), { name: 'Misuse' })
  })
})
