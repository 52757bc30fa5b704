import { hash, randomBytes } from 'node:crypto'
import type { ExtendableContext } from 'koa'
import type { AuthContext } from '../auth.ts'
import { Misuse } from '../errors.ts'
import { type Flow, type FlowData, type FlowStore, flowLifetime, type NewFlow } from './flow.ts'

interface CookieFlowsOptions {
  /** At least 32 random bytes, the same in all processes. They authenticate the cookies. */
  readonly secret: string | Uint8Array
  /** Whether the cookies are `Secure` and have the prefix `__Host-`. `true` by default. `false` only for development without TLS. */
  readonly secure?: boolean
}

// Separates the tokens from others of the same secret (RFC 8725 §3.11).
const typ = 'flow+jwt'

/**
 * Keeps each flow in a cookie of its own, so that no session or database is needed. The cookie is a signed token. It expires, and it is
 * deleted when the flow ends. The browser's user can read the value, so `data` must not contain a secret.
 */
export class CookieFlows<Data extends FlowData = FlowData> implements FlowStore<Data> {
  readonly #secret: Uint8Array
  readonly #prefix: string
  readonly #attributes: string

  constructor({ secret, secure = true }: CookieFlowsOptions) {
    this.#secret = Buffer.from(secret ?? '')
    if (this.#secret.length < 32)
      throw new Misuse('`CookieFlows` needs a `secret` of 32 random bytes or more.')
    this.#prefix = secure ? '__Host-flow-' : 'flow-'
    this.#attributes = `; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  }

  async start(ctx: AuthContext, flow: NewFlow<Data>): Promise<Flow<Data>> {
    const { SignJWT } = await import('jose')
    const started = { ...flow, state: random(), nonce: random(), verifier: random() }
    const token = await new SignJWT(started)
      .setProtectedHeader({ alg: 'HS256', typ })
      .setExpirationTime(new Date(Date.now() + flowLifetime))
      .sign(this.#secret)
    const cookie = `${this.#nameOf(started.state)}=${token}; Max-Age=${flowLifetime / 1000}`
    ctx.append('Set-Cookie', cookie + this.#attributes)
    return started
  }

  async finish(ctx: AuthContext, state: string): Promise<Flow<Data> | undefined> {
    const { jwtVerify } = await import('jose')
    const name = this.#nameOf(state)
    const options = { algorithms: ['HS256'], typ, requiredClaims: ['exp'] }
    // The signature proves the type.
    const flow = await jwtVerify<Flow<Data>>(cookieOf(ctx, name), this.#secret, options).then(
      ({ payload: { exp, ...flow } }) => flow as unknown as Flow<Data>,
      () => undefined,
    )
    if (flow?.state !== state) return undefined
    ctx.append('Set-Cookie', `${name}=; Max-Age=0${this.#attributes}`)
    return flow
  }

  // Not the state itself, because the name of a cookie can appear in logs.
  #nameOf(state: string): string {
    return this.#prefix + hash('sha256', state, 'base64url').slice(0, 16)
  }
}

function random(): string {
  return randomBytes(32).toString('base64url')
}

function cookieOf({ req }: ExtendableContext, name: string): string {
  const found = (req.headers.cookie ?? '').split(';').find((pair) => pair.trim().startsWith(`${name}=`))
  return found?.trim().slice(name.length + 1) ?? ''
}
