import type { ExtendableContext } from 'koa'

/** A cookie for this host only, hidden from scripts. A secret value needs no signature, because it cannot be guessed. */
export class HostCookie {
  readonly name: string
  readonly #attributes: string
  readonly #values: RegExp

  /** @param values the valid values, by default those of `newIdentifier` */
  constructor(name: string, { isTls, values = /^[\w-]{43}$/ }: { isTls: boolean; values?: RegExp }) {
    // Browsers accept this prefix only over TLS, for one host, and with the path `/` (RFC 6265bis §4.1.3.2).
    this.name = isTls ? `__Host-${name}` : name
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${isTls ? '; Secure' : ''}`
    this.#values = values
  }

  /** The value in the request, or `undefined` if it is missing or malformed. */
  read(ctx: ExtendableContext): string | undefined {
    if (ctx.req.headers.cookie === undefined) return undefined
    const value = ctx.cookies.get(this.name, { signed: false })
    return value !== undefined && this.#values.test(value) ? value : undefined
  }

  /** Returns the value in the request. A GET request also deletes the cookie. */
  take(ctx: ExtendableContext): string | undefined {
    const value = this.read(ctx)
    if (value !== undefined && ctx.method === 'GET') this.clear(ctx)
    return value
  }

  /** Sets the cookie. The lifetime is in milliseconds. */
  write(ctx: ExtendableContext, value: string, lifetime: number): void {
    const cookie = `${this.name}=${value}; Max-Age=${Math.floor(lifetime / 1000)}; ${this.#attributes}`
    // A response should not set the same cookie twice (RFC 6265 §4.1.1).
    this.takeBack(ctx)
    ctx.append('Set-Cookie', cookie)
  }

  /** Removes the cookie from the response. Returns whether it was there. */
  takeBack(ctx: ExtendableContext): boolean {
    const all = [ctx.response.headers['set-cookie'] ?? []].flat()
    const others = all.filter((each) => !each.startsWith(`${this.name}=`))
    ctx.remove('Set-Cookie')
    if (others.length > 0) ctx.set('Set-Cookie', others)
    return others.length < all.length
  }

  /** Deletes the cookie in the browser. */
  clear(ctx: ExtendableContext): void {
    this.write(ctx, '', 0)
  }
}
