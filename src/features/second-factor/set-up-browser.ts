import { hash } from 'node:crypto'
import { HostCookie } from '../../site/host-cookie.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { setUpLifetime } from './totp-factors.ts'

/**
 * Binds the set-up of an app to the browser that started it, with a cookie. Without this, a thief with a session could start the set-up,
 * and the page would show the owner a key that the thief knows.
 */
export class SetUpBrowser {
  readonly #cookie: HostCookie

  constructor({ isTls }: { isTls: boolean }) {
    this.#cookie = new HostCookie('app-set-up', { isTls })
  }

  start(ctx: SiteContext, key: Buffer): void {
    this.#cookie.write(ctx, digestOf(key), setUpLifetime)
  }

  hasStarted(ctx: SiteContext, key: Buffer): boolean {
    return this.#cookie.read(ctx) === digestOf(key)
  }

  end(ctx: SiteContext): void {
    if (this.#cookie.read(ctx) !== undefined) this.#cookie.clear(ctx)
  }
}

function digestOf(key: Buffer): string {
  return hash('sha256', key, 'base64url')
}
