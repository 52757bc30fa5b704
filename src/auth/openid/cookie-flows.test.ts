import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
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
  it('gives a flow back once', () => {
    const { context } = cookieJar()
    const flows = new CookieFlows({ secret })
    const started = flows.start(context(), flow)
    assert.deepEqual(flows.finish(context(), started.state)?.data, { next: '/after' })
    assert.equal(flows.finish(context(), started.state), undefined)
  })

  it('V21 forgets a flow after ten minutes', (t) => {
    const time = freezeTime(t)
    const { jar, context } = cookieJar()
    const flows = new CookieFlows({ secret })
    const { state } = flows.start(context(), flow)
    const [name = '', value = ''] = [...jar][0] ?? []
    time.forward(flowLifetime - 1)
    assert.ok(flows.finish(context(), state))
    jar.set(name, value)
    time.forward(1)
    assert.equal(flows.finish(context(), state), undefined)
  })

  it('refuses a changed cookie, and one of another secret', () => {
    const { jar, context } = cookieJar()
    const flows = new CookieFlows({ secret })
    const { state } = flows.start(context(), flow)
    const [name = '', value = ''] = [...jar][0] ?? []
    const [text = '', signature = ''] = value.split('.')
    const forged = JSON.stringify({ ...JSON.parse(Buffer.from(text, 'base64url').toString()), data: {} })
    for (const changed of [
      `${Buffer.from(forged).toString('base64url')}.${signature}`,
      `${text}.${signature.slice(1)}x`,
      `${text}.`,
      text,
      '',
    ]) {
      jar.set(name, changed)
      assert.equal(flows.finish(context(), state), undefined, changed)
    }
    jar.set(name, value)
    assert.equal(new CookieFlows({ secret: `${secret}!` }).finish(context(), state), undefined)
  })

  it('V33 sets a cookie for this host only, whose name does not contain the state', () => {
    const { lines, context } = cookieJar()
    const { state } = new CookieFlows({ secret }).start(context(), flow)
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
