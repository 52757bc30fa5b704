import { defineEntity, p } from '@mikro-orm/core'
import type { Identity } from '#auth/openid'
import { User } from '../../users/user.ts'

/** What a flow is for. `sign-up`: the provider has answered, and the person has not created an account yet. */
export type Purpose = 'sign-in' | 'link' | 'confirm' | 'sign-up'

/** The part of an identity that a sign-up needs. */
export interface StoredIdentity extends Pick<Identity, 'issuer' | 'subject' | 'isEmailVerified'> {
  readonly email?: string | undefined
  readonly name?: string | undefined
  /** In milliseconds. */
  readonly authenticatedAt?: number | undefined
}

const ProviderFlowSchema = defineEntity({
  name: 'ProviderFlow',
  tableName: 'provider_flows',
  properties: {
    // SHA-256 of the state.
    digest: p.string().length(43).primary(),
    // SHA-256 of the value in the cookie of the browser that started the flow.
    browser: p.string().length(43).index(),
    provider: p.string().length(30),
    purpose: p.string().length(10).$type<Purpose>(),
    // The path after the sign-in, encrypted with a key of the browser, because the path may contain the token of a link.
    next: p.string().length(2800).nullable(),
    // "Keep me signed in on this device".
    kept: p.boolean(),
    // The signed-in user who links or confirms, and the digest of the session.
    user: () => p.manyToOne(User).deleteRule('cascade').index().nullable(),
    session: p.string().length(43).nullable(),
    // For the purpose `sign-up`.
    identity: p.json<StoredIdentity>().nullable(),
    expiresAt: p.datetime().index(),
    createdAt: p.datetime().index(),
  },
})

/** A request that a browser has taken to an identity provider. The row contains no secret. */
export class ProviderFlow extends ProviderFlowSchema.class {}

ProviderFlowSchema.setClass(ProviderFlow)
