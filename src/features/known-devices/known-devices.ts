import type { Context } from 'koa'
import { HostCookie } from '../../site/host-cookie.ts'
import type { User } from '../../users/user.ts'
import { type Devices, knownFor } from './devices.ts'

/** The devices that users have signed in from, each by a cookie of its own. */
export class KnownDevices {
  readonly #devices: Devices
  readonly #cookie: HostCookie

  constructor(devices: Devices, { isTls }: { isTls: boolean }) {
    this.#devices = devices
    this.#cookie = new HostCookie('device', { isTls })
  }

  /** The device that a request comes from, if the account with this address has signed in from it. */
  async deviceOf(ctx: Pick<Context, 'cookies'>, email: string): Promise<string | undefined> {
    const value = this.#cookie.read(ctx)
    return value !== undefined && (await this.#devices.isKnown(value, email)) ? value : undefined
  }

  /** Remembers the device of a user who has just signed in. */
  async remember(ctx: Context, { id, passwordChangedAt }: User): Promise<void> {
    const value = await this.#devices.remember(this.#cookie.read(ctx), id, passwordChangedAt)
    if (value !== undefined) this.#cookie.write(ctx, value, knownFor)
  }
}
