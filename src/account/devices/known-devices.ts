import type { ExtendableContext } from 'koa'
import { HostCookie } from '../../site/host-cookie.ts'
import { networkOf } from '../../throttle/network.ts'
import type { User } from '../../users/user.ts'
import { type Devices, deviceLifetime, type OnNewDevice } from './devices.ts'

/** The devices of users, each identified by a cookie. Guesses from other devices cannot lock a known one out. */
export class KnownDevices {
  readonly #devices: Devices
  readonly #cookie: HostCookie

  constructor(devices: Devices, { isTls }: { isTls: boolean }) {
    this.#devices = devices
    this.#cookie = new HostCookie('device', { isTls })
  }

  /** The device of a request, if it is known to the account with this e-mail address. */
  async deviceOf(ctx: ExtendableContext, email: string): Promise<string | undefined> {
    const value = this.#cookie.read(ctx)
    return value !== undefined && (await this.#devices.isKnown(value, email)) ? value : undefined
  }

  /** Stores the device of a signed-in user, and sets its cookie. An error does not fail the request. */
  async store(ctx: ExtendableContext, user: User, onNew?: OnNewDevice): Promise<void> {
    try {
      const value = await this.#devices.store(this.#cookie.read(ctx), user, onNew)
      if (value !== undefined) this.#cookie.write(ctx, value, deviceLifetime)
    } catch (error) {
      ctx.app.emit('error', error, ctx)
    }
  }

  /** Stores the network of a program that has sent a user's password. */
  async storeNetwork(ctx: ExtendableContext, user: User, onNew: OnNewDevice): Promise<void> {
    await this.#devices.storeNetwork(networkOf(ctx.ip), user, onNew)
  }
}
