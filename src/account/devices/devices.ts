import { defineEntity, type EntityManager, type MikroORM, p } from '@mikro-orm/core'
import type { ExtendableContext } from 'koa'
import { deleteBatch } from '../../database/delete-batch.ts'
import { digestOf, newIdentifier } from '../../database/identifier.ts'
import { clockSkew } from '../../durations.ts'
import { HostCookie } from '../../site/host-cookie.ts'
import { networkOf } from '../../throttle/network.ts'
import { deleteBeyond, emailKey, lockAccount, type SeenAccount, User } from '../../users/user.ts'

const DeviceSchema = defineEntity({
  name: 'Device',
  tableName: 'devices',
  properties: {
    // SHA-256 of the value in the device's cookie, or of `network ADDRESS` for the network of a program.
    digest: p.string().length(43).primary(),
    user: () => p.manyToOne(User).primary().deleteRule('cascade').index(),
    // The last sign-in from a device, or the first use of a network.
    seenAt: p.datetime().index(),
  },
})

/** A device that a user has signed in from, or the network of a program. It does not authenticate the user. */
export class Device extends DeviceSchema.class {}

DeviceSchema.setClass(Device)

/** Called in the transaction that adds a new device or network to an account. */
export type OnNewDevice = (em: EntityManager) => Promise<void>

// How long a device is known after its last sign-in: a year in milliseconds.
const lifetime = 365 * 24 * 60 * 60_000

// Per user. A further row replaces the row with the oldest `seenAt`.
const maxDevices = 100

/**
 * The devices that users have signed in from, each identified by a random value in a cookie, and the networks of programs. Guesses from
 * other devices cannot lock a known one out.
 */
export class Devices {
  readonly #orm: MikroORM
  readonly #cookie: HostCookie
  readonly #now: () => number

  constructor(orm: MikroORM, { isTls }: { isTls: boolean }, now = Date.now) {
    this.#orm = orm
    this.#cookie = new HostCookie('device', { isTls })
    this.#now = now
  }

  /** The device of a request, if it is known to the account with this e-mail address, in any case. */
  async deviceOf(ctx: ExtendableContext, email: string): Promise<string | undefined> {
    const value = this.#cookie.read(ctx)
    if (value === undefined) return undefined
    const now = this.#now()
    const seenAt = { $gte: new Date(now - lifetime), $lte: new Date(now + clockSkew) }
    const device = { digest: digestOf(value), user: { emailKey: emailKey(email) }, seenAt }
    return (await this.#orm.em.fork().count(Device, device)) > 0 ? value : undefined
  }

  /**
   * Stores the device of a signed-in user, and sets its cookie, unless the credentials have changed in the meantime. A value of another
   * user is not reused, because the two users would share a rate limit. An error does not fail the request.
   *
   * @param onNew called in the transaction that adds a new device
   */
  async remember(
    ctx: ExtendableContext,
    user: SeenAccount,
    onNew: OnNewDevice = async () => {},
  ): Promise<void> {
    try {
      const current = this.#cookie.read(ctx)
      const isOwn = current !== undefined && (await this.#belongsTo(user.id, current))
      const value = isOwn ? current : newIdentifier()
      const isStored = await this.#store(value, user, isOwn ? undefined : onNew)
      if (isStored) this.#cookie.write(ctx, value, lifetime)
    } catch (error) {
      ctx.app.emit('error', error, ctx)
    }
  }

  /**
   * Stores the network of a program that has sent a user's password, because programs keep no cookies. The network does not count
   * as a known device in a rate limit, because no cookie can contain its value.
   *
   * @param onNew called in the transaction that adds a new network
   */
  async rememberNetwork(ctx: ExtendableContext, user: SeenAccount, onNew: OnNewDevice): Promise<void> {
    const value = `network ${networkOf(ctx.ip)}`
    if (await this.#belongsTo(user.id, value)) return
    try {
      await this.#store(value, user, onNew)
    } catch (error) {
      // A concurrent request of the same program may have added its network.
      if (!(await this.#belongsTo(user.id, value))) throw error
    }
  }

  /** Deletes a batch of devices with a `seenAt` over a year ago, or over two minutes in the future. Returns their number. */
  purge(limit = 500): Promise<number> {
    const now = this.#now()
    const old = { seenAt: { $lt: new Date(now - lifetime) } }
    const inFuture = { seenAt: { $gt: new Date(now + clockSkew) } }
    return deleteBatch(this.#orm.em.fork(), Device, [old, inFuture], limit)
  }

  /** Returns `false` if the credentials have changed. `onNew` is `undefined` for a known device. */
  #store(value: string, account: SeenAccount, onNew: OnNewDevice | undefined): Promise<boolean> {
    const [digest, user] = [digestOf(value), account.id]
    return this.#orm.em.fork().transactional(async (em) => {
      // A password change or a new second factor deletes all devices. A sign-in that began before must not add one.
      if (!(await lockAccount(em, account))) return false
      const device = { digest, user, seenAt: new Date(this.#now()) }
      if (!onNew) {
        await em.upsert(Device, device)
        return true
      }
      await em.insert(Device, device)
      await deleteBeyond(em, Device, { user, current: digest, limit: maxDevices })
      await onNew(em)
      return true
    })
  }

  async #belongsTo(user: string, value: string): Promise<boolean> {
    const device = { digest: digestOf(value), user }
    return (await this.#orm.em.fork().count(Device, device, { filters: false })) > 0
  }
}
