import type { Context } from 'koa'

/** The cookie that holds the identifier of the session: 256 random bits that are looked up, so it needs no signature. */
export class SessionCookie {
  readonly name: string
  readonly #attributes: string

  constructor({ isTls }: { isTls: boolean }) {
    // RFC 6265bis §4.1.3.2: a browser takes the prefixed name over TLS only, for this host and for no path of it.
    this.name = isTls ? '__Host-session' : 'session'
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${isTls ? '; Secure' : ''}`
  }

  /** The identifier that the request brings, which may be anything. */
  read(ctx: Context): string | undefined {
    return ctx.cookies.get(this.name, { signed: false })
  }

  /** Has the browser keep an identifier for so many milliseconds. */
  write(ctx: Context, id: string, lifetime: number): void {
    const value = `${this.name}=${id}; Max-Age=${Math.floor(lifetime / 1000)}; ${this.#attributes}`
    // In place of what koa-session set before: a name stands only once (RFC 6265 §4.1.1).
    const others = [ctx.response.headers['set-cookie'] ?? []]
      .flat()
      .filter((each) => !each.startsWith(`${this.name}=`))
    ctx.set('Set-Cookie', [...others, value])
  }

  /** Has the browser forget it. */
  clear(ctx: Context): void {
    this.write(ctx, '', 0)
  }
}
