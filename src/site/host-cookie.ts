import type { Context } from 'koa'

/**
 * A cookie that holds 256 random bits, for this host alone, that no script can read. The bits are looked up, so it needs
 * no signature.
 */
export class HostCookie {
  readonly name: string
  readonly #attributes: string

  constructor(name: string, { isTls }: { isTls: boolean }) {
    // RFC 6265bis §4.1.3.2: a browser takes the prefixed name over TLS only, for this host and for no path of it.
    this.name = isTls ? `__Host-${name}` : name
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${isTls ? '; Secure' : ''}`
  }

  /** The value that the request brings, if it is of the form of ours. */
  read(ctx: Pick<Context, 'cookies'>): string | undefined {
    const value = ctx.cookies.get(this.name, { signed: false })
    return value !== undefined && /^[\w-]{43}$/.test(value) ? value : undefined
  }

  /** Has the browser keep a value for so many milliseconds. */
  write(ctx: Context, value: string, lifetime: number): void {
    const cookie = `${this.name}=${value}; Max-Age=${Math.floor(lifetime / 1000)}; ${this.#attributes}`
    // In place of what was set before: a name stands only once (RFC 6265 §4.1.1).
    this.takeBack(ctx)
    ctx.append('Set-Cookie', cookie)
  }

  /** Leaves the browser's as it is after all. Returns whether anything was to be done with it. */
  takeBack(ctx: Context): boolean {
    const all = [ctx.response.headers['set-cookie'] ?? []].flat()
    const others = all.filter((each) => !each.startsWith(`${this.name}=`))
    ctx.remove('Set-Cookie')
    if (others.length > 0) ctx.set('Set-Cookie', others)
    return others.length < all.length
  }

  /** Has the browser forget it. */
  clear(ctx: Context): void {
    this.write(ctx, '', 0)
  }
}
