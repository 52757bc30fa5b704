import { createHmac } from 'node:crypto'
import type { EntityManager, RequiredEntityData } from '@mikro-orm/core'
import type { AuthContext } from '#auth'
import { entityManager } from '#auth/mikro-orm'
import { type Flow, type FlowStore, flowLifetime, type NewFlow } from '#auth/openid'
import { SecretBox } from '../../account/second-factor/secret-box.ts'
import { unexpired } from '../../database/expired-rows.ts'
import { digestOf, newIdentifier } from '../../database/identifier.ts'
import { HostCookie } from '../../site/host-cookie.ts'
import { ProviderFlow, type Purpose, type StoredIdentity } from './provider-flow.ts'

export type SiteFlowData = {
  readonly purpose: Exclude<Purpose, 'sign-up'>
  /** The path to redirect to. */
  readonly next?: string | undefined
  /** "Keep me signed in on this device". */
  readonly kept: boolean
  /** The signed-in user who links or confirms, and the digest of the session. */
  readonly user?: string | undefined
  readonly session?: string | undefined
}

/** A sign-up that waits for its form. */
export type SignUp = ProviderFlow & { readonly identity: StoredIdentity }

/** Stores flows in the database. A cookie binds them to the browser. The nonce and the PKCE verifier are derived from it. */
export class ProviderFlows implements FlowStore<SiteFlowData> {
  readonly #cookie: HostCookie

  constructor({ isTls }: { isTls: boolean }) {
    this.#cookie = new HostCookie('provider-flow', { isTls })
  }

  async start(ctx: AuthContext, flow: NewFlow<SiteFlowData>): Promise<Flow<SiteFlowData>> {
    const { provider, data } = flow
    if (!data) throw new Error('A flow needs a purpose.')
    const state = newIdentifier()
    // An existing value is reused, so that flows in other tabs still work.
    const browser = this.#cookie.read(ctx) ?? newIdentifier()
    const { nonce, verifier, box } = secretsOf(browser, state)
    const next = data.next && box.encrypt(Buffer.from(data.next), provider)
    await this.#insert(ctx, { state, browser, row: { ...data, provider, next } })
    return { ...flow, state, nonce, verifier }
  }

  async finish(ctx: AuthContext, state: string): Promise<Flow<SiteFlowData> | undefined> {
    const browser = this.#cookie.read(ctx)
    if (browser === undefined || !/^[\w-]{43}$/.test(state)) return undefined
    const em = entityManager(ctx)
    const where = { digest: digestOf(state), browser: digestOf(browser), ...unexpired() }
    const found = await em.findOne(ProviderFlow, where, { disableIdentityMap: true })
    // Only one of several concurrent answers finishes the flow.
    if (!found || (await em.nativeDelete(ProviderFlow, { digest: found.digest })) !== 1) return undefined
    const { provider, purpose, kept, next, session } = found
    if (purpose === 'sign-up') return undefined
    const { nonce, verifier, box } = secretsOf(browser, state)
    const data: SiteFlowData = {
      purpose,
      kept,
      next: next ? box.decrypt(next, provider).toString() : undefined,
      user: found.user?.id,
      session: session ?? undefined,
    }
    return { provider, data, state, nonce, verifier }
  }

  /** Keeps the identity of a person without an account until the person sends the sign-up form. */
  async keepForSignUp(
    ctx: AuthContext,
    { provider, kept }: { provider: string; kept: boolean },
    identity: StoredIdentity,
  ): Promise<void> {
    const browser = this.#cookie.read(ctx)
    if (browser === undefined) throw new Error('The cookie of this flow is missing.')
    const purpose = 'sign-up'
    await entityManager(ctx).nativeDelete(ProviderFlow, { browser: digestOf(browser), purpose })
    await this.#insert(ctx, { state: newIdentifier(), browser, row: { provider, purpose, kept, identity } })
  }

  /** The sign-up of this browser, if it has not expired. */
  async findSignUp(ctx: AuthContext): Promise<SignUp | undefined> {
    const browser = this.#cookie.read(ctx)
    if (browser === undefined) return undefined
    const where = { browser: digestOf(browser), purpose: 'sign-up' as const, ...unexpired() }
    const found = await entityManager(ctx).findOne(ProviderFlow, where, { disableIdentityMap: true })
    // Only `keepForSignUp` inserts rows with this purpose.
    return (found as SignUp | null) ?? undefined
  }

  /** Removes a sign-up. Returns `false` if another request has already removed it. */
  async finishSignUp(em: EntityManager, { digest }: SignUp): Promise<boolean> {
    return (await em.nativeDelete(ProviderFlow, { digest })) === 1
  }

  async #insert(
    ctx: AuthContext,
    { state, browser, row }: { state: string; browser: string; row: Row },
  ): Promise<void> {
    const now = Date.now()
    const dates = { expiresAt: new Date(now + flowLifetime), createdAt: new Date(now) }
    const digests = { digest: digestOf(state), browser: digestOf(browser) }
    await entityManager(ctx).insert(ProviderFlow, { ...row, ...digests, ...dates })
    this.#cookie.write(ctx, browser, flowLifetime)
  }
}

type Row = Omit<RequiredEntityData<ProviderFlow>, 'digest' | 'browser' | 'expiresAt' | 'createdAt'>

// The cookie never leaves the browser and the site, so neither the provider nor a copy of the database reveals these secrets.
function secretsOf(browser: string, state: string) {
  const derive = (name: string) => createHmac('sha256', browser).update(`${name} ${state}`).digest()
  return {
    nonce: derive('nonce').toString('base64url'),
    verifier: derive('verifier').toString('base64url'),
    box: new SecretBox([{ id: 'flow', bytes: derive('next') }]),
  }
}
