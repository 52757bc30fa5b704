import { hash } from 'node:crypto'
import type { MikroORM } from '@mikro-orm/core'
import { deleteBatch } from '../../database/delete-batch.ts'
import { deleteBeyond } from '../../database/delete-beyond.ts'
import { clockSkew } from '../../database/future-time.ts'
import { newIdentifier } from '../../site/new-identifier.ts'
import { lockAccount } from '../../users/lock-account.ts'
import { Device } from './device.ts'

const year = 365 * 24 * 60 * 60_000

/** How long a device is known after the last sign-in from it, in milliseconds. */
export const knownFor = year

/** How many devices of a user are known: when one more signs in, the one that was seen least recently is forgotten. */
export const mostDevices = 100

/** The devices that people have signed in from, each known by a value that it keeps in a cookie. */
export class Devices {
  readonly #orm: MikroORM
  readonly #now: () => number

  constructor(orm: MikroORM, now = Date.now) {
    this.#orm = orm
    this.#now = now
  }

  /** Whether the account with this address has signed in from the device that keeps this value. */
  async isKnown(value: string, email: string): Promise<boolean> {
    const now = this.#now()
    const seenAt = { $gte: new Date(now - knownFor), $lte: new Date(now + clockSkew) }
    return (await this.#orm.em.fork().count(Device, { digest: digestOf(value), user: { email }, seenAt })) > 0
  }

  /**
   * Remembers the device that a user has just signed in from. Returns the value of its cookie: the one it keeps, if that
   * was given to this user, or a new one. A value from anyone else could be shared with them, and its allowance too.
   *
   * @param passwordChangedAt the password that the user signed in with; `undefined` is returned if it has changed since
   */
  remember(kept: string | undefined, user: string): Promise<string>
  remember(kept: string | undefined, user: string, passwordChangedAt: Date): Promise<string | undefined>
  async remember(
    kept: string | undefined,
    user: string,
    passwordChangedAt?: Date,
  ): Promise<string | undefined> {
    const isTheirs = kept !== undefined && (await this.#belongs(kept, user))
    const value = isTheirs ? kept : newIdentifier()
    const digest = digestOf(value)
    return this.#orm.em.fork().transactional(async (em) => {
      // A new password ends all devices. A sign-in with the old one must not add another behind it.
      if (!(await lockAccount(em, { id: user, passwordChangedAt }))) return undefined
      await em.upsert(Device, { digest, user, seenAt: new Date(this.#now()) })
      if (!isTheirs)
        await deleteBeyond(em, 'devices', { user, current: digest, most: mostDevices, tie: 'digest' })
      return value
    })
  }

  /** Deletes a batch of devices that were last seen over a year ago, or by a wrong clock. Returns how many there were. */
  purge(most = 500): Promise<number> {
    const now = this.#now()
    const old = { seenAt: { $lt: new Date(now - knownFor) } }
    const where = { $or: [old, { seenAt: { $gt: new Date(now + clockSkew) } }] }
    return deleteBatch(this.#orm.em.fork(), Device, { where, key: 'digest' }, most)
  }

  async #belongs(value: string, user: string): Promise<boolean> {
    const found = { digest: digestOf(value), user }
    return (await this.#orm.em.fork().count(Device, found, { filters: false })) > 0
  }
}

function digestOf(value: string): string {
  return hash('sha256', value, 'base64url')
}
