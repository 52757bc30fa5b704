import { defineEntity, p } from '@mikro-orm/core'
import { entityManager } from '#auth/mikro-orm'
import { unexpired } from '../../database/expired-rows.ts'
import { digestOf, newIdentifier } from '../../database/identifier.ts'
import { HostCookie } from '../../site/host-cookie.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { User } from '../../users/user.ts'

const StoredPendingSignInSchema = defineEntity({
  name: 'StoredPendingSignIn',
  tableName: 'pending_sign_ins',
  properties: {
    // SHA-256 of the value in the cookie.
    digest: p.string().length(43).primary(),
    user: () => p.manyToOne(User).deleteRule('cascade').index(),
    // The version at the check of the password.
    credentialsVersion: p.integer(),
    // "Keep me signed in on this device".
    kept: p.boolean(),
    // How the sign-in began (RFC 8176), separated by spaces. Null for the password.
    methods: p.string().length(100).nullable(),
    expiresAt: p.datetime().index(),
    createdAt: p.datetime().index(),
  },
})

/** A sign-in with the right password, or with an identity provider, that waits for a code. It is not a session, and gives access only to the code form. */
export class StoredPendingSignIn extends StoredPendingSignInSchema.class {}

StoredPendingSignInSchema.setClass(StoredPendingSignIn)

/** The user of a sign-in by password that still needs a code. No guard accepts it in place of a `User`. */
export class PendingSignIn {
  readonly user: User

  constructor(user: User) {
    this.user = user
  }
}

const lifetime = 10 * 60_000

/** Stores sign-ins that wait for a code. Each expires after ten minutes, and a cookie identifies it. */
export class PendingSignIns {
  readonly #cookie: HostCookie

  constructor({ isTls }: { isTls: boolean }) {
    this.#cookie = new HostCookie('pending-sign-in', { isTls })
  }

  /** Stores the sign-in of a user whose first step is right. `methods` are those of that step, `['pwd']` by default. */
  async start(
    ctx: SiteContext,
    user: User,
    { kept, methods = ['pwd'] }: { kept: boolean; methods?: readonly string[] },
  ): Promise<void> {
    const identifier = newIdentifier()
    const now = Date.now()
    await entityManager(ctx).insert(StoredPendingSignIn, {
      digest: digestOf(identifier),
      user: user.id,
      credentialsVersion: user.credentialsVersion,
      kept,
      methods: methods.join(' '),
      expiresAt: new Date(now + lifetime),
      createdAt: new Date(now),
    })
    this.#cookie.write(ctx, identifier, lifetime)
  }

  /**
   * The pending sign-in of this browser, and its user as currently stored. `undefined` if it has expired, or if the credentials have
   * changed.
   */
  async find(ctx: SiteContext): Promise<StoredPendingSignIn | undefined> {
    const identifier = this.#cookie.read(ctx)
    if (identifier === undefined) return undefined
    const where = { digest: digestOf(identifier), ...unexpired() }
    const options = { populate: ['user'], disableIdentityMap: true } as const
    const found = await entityManager(ctx).findOne(StoredPendingSignIn, where, options)
    return found && found.credentialsVersion === found.user.credentialsVersion ? found : undefined
  }

  /** Deletes a pending sign-in. Returns `false` if another request has already deleted it. */
  async finish(ctx: SiteContext, { digest }: StoredPendingSignIn): Promise<boolean> {
    this.#cookie.clear(ctx)
    return (await entityManager(ctx).nativeDelete(StoredPendingSignIn, { digest })) === 1
  }
}
