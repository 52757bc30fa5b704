import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
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

/**
 * Keeps each flow in a cookie of its own, so that no session or database is needed. The cookie is authenticated and expires. It is deleted
 * when the flow ends. The value is readable by the browser's user, so `data` must not contain a secret.
 */
export class CookieFlows<Data extends FlowData = FlowData> implements FlowStore<Data> {
  readonly #secret: string | Uint8Array
  readonly #prefix: string
  readonly #attributes: string

  constructor({ secret, secure = true }: CookieFlowsOptions) {
    if (Buffer.byteLength(secret ?? '') < 32)
      throw new Misuse('`CookieFlows` needs a `secret` of 32 random bytes or more.')
    this.#secret = secret
    this.#prefix = secure ? '__Host-flow-' : 'flow-'
    this.#attributes = `; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  }

  start(ctx: AuthContext, flow: NewFlow<Data>): Flow<Data> {
    const started = { ...flow, state: random(), nonce: random(), verifier: random() }
    const value = Buffer.from(JSON.stringify({ ...started, expires: Date.now() + flowLifetime })).toString(
      'base64url',
    )
    const cookie = `${this.#nameOf(started.state)}=${value}.${this.#sign(value)}`
    ctx.append('Set-Cookie', `${cookie}; Max-Age=${flowLifetime / 1000}${this.#attributes}`)
    return started
  }

  finish(ctx: AuthContext, state: string): Flow<Data> | undefined {
    const name = this.#nameOf(state)
    const [value = '', mac = ''] = (cookieOf(ctx, name) ?? '').split('.')
    if (value === '' || !isEqual(mac, this.#sign(value))) return undefined
    ctx.append('Set-Cookie', `${name}=; Max-Age=0${this.#attributes}`)
    // The signature proves the type.
    const { expires, ...flow } = JSON.parse(Buffer.from(value, 'base64url').toString()) as Flow<Data> & {
      expires: number
    }
    return flow.state === state && expires > Date.now() ? flow : undefined
  }

  // Not the state itself, because the name of a cookie can appear in logs.
  #nameOf(state: string): string {
    return this.#prefix + createHmac('sha256', 'flow').update(state).digest('base64url').slice(0, 16)
  }

  #sign(value: string): string {
    return createHmac('sha256', this.#secret).update(`flow ${value}`).digest('base64url')
  }
}

function random(): string {
  return randomBytes(32).toString('base64url')
}

function cookieOf({ req }: ExtendableContext, name: string): string | undefined {
  const found = (req.headers.cookie ?? '').split(';').find((pair) => pair.trim().startsWith(`${name}=`))
  return found?.trim().slice(name.length + 1)
}

function isEqual(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}
