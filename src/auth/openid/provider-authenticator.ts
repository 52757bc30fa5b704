import type { AuthContext, AuthMiddleware } from '../auth.ts'
import { type Find, RequestAuthenticator, requireFind, type UserOrNothing } from '../authenticator.ts'
import type { Class } from '../checks.ts'
import type { Flow, FlowData, FlowStore } from './flow.ts'
import type { Identity } from './identity.ts'
import type { IdentityProvider, Refused } from './identity-provider.ts'

/** What came back from a provider. `expired`: this browser has no such flow, because it took too long or is finished. */
export type Answer<Data extends FlowData = FlowData> =
  | { readonly identity: Identity; readonly flow: Flow<Data> }
  | {
      readonly refused: Refused['refused'] | 'expired'
      readonly code: string
      readonly flow?: Flow<Data> | undefined
    }

/** A provider, and where its flows are kept while the person is there. */
export interface SignInWith<Data extends FlowData = FlowData> {
  readonly provider: IdentityProvider
  readonly flows: FlowStore<Data>
}

const answers = new WeakMap<object, Answer>()

/**
 * Authenticates the request that comes back from an identity provider. Mount `startFlow` on a POST route, and the authenticator on the
 * route of the `callbackUrl`. A forged, repeated or refused answer signs in nobody. If the provider cannot be reached, guards respond
 * with 503.
 */
export abstract class ProviderAuthenticator<
  User extends object = object,
  Data extends FlowData = FlowData,
> extends RequestAuthenticator<User> {
  override readonly signsIn = true
  abstract readonly provider: IdentityProvider
  abstract readonly flows: FlowStore<Data>

  /** The middleware for a function: `ProviderAuthenticator.from(User, { provider, flows }, (identity) => …)`. */
  static from<User extends object>(
    user: Class<User>,
    { provider, flows }: SignInWith,
    find: Find<NoInfer<User>, Identity>,
  ): AuthMiddleware {
    class FromFunction extends ProviderAuthenticator<User> {
      override readonly user = user
      override readonly provider = provider
      override readonly flows = flows
      override authenticate = requireFind(user, find)
    }
    return new FromFunction().middleware()
  }

  /** The user of an identity, or nothing. */
  abstract authenticate(identity: Identity, ctx: AuthContext, flow: Flow<Data>): UserOrNothing<User>

  override async attempt(ctx: AuthContext): Promise<void> {
    const answer = await finishFlow(this, ctx)
    if (!answer) return
    // The type of the data is lost in the map.
    answers.set(ctx, answer as Answer)
    if (!('identity' in answer)) return
    const { identity, flow } = answer
    const user = await this.authenticate(identity, ctx, flow)
    // Without a time, the user is not fresh, because the person may have authenticated to the provider days ago.
    const at = identity.authenticatedAt ?? new Date(0)
    if (user) ctx.auth.login(user, this.user, { methods: identity.methods, at })
  }

  /** Never skipped for an answer, because the person may be signed in as another user. */
  override isSkipped(ctx: AuthContext): boolean {
    return super.isSkipped(ctx) && !isAnswer(ctx)
  }
}

/** The answer of the provider to this request, or `undefined` if it has none: for the page after a refusal, and for the data of the flow. */
export function providerAnswer(ctx: AuthContext): Answer | undefined {
  return answers.get(ctx)
}

function isAnswer({ method, querystring }: AuthContext): boolean {
  return method === 'GET' && new URLSearchParams(querystring).has('state')
}

/**
 * Finishes the flow that this request answers. Returns `undefined` if the request has no answer. `ProviderAuthenticator` calls it.
 * Throws if the provider cannot be reached.
 */
export async function finishFlow<Data extends FlowData>(
  { provider, flows }: SignInWith<Data>,
  ctx: AuthContext,
): Promise<Answer<Data> | undefined> {
  if (!isAnswer(ctx)) return undefined
  const answer = new URLSearchParams(ctx.querystring)
  const flow = await flows.finish(ctx, answer.get('state') ?? '')
  // A flow of another provider is an attempted mix-up (RFC 9700 §4.4).
  if (flow?.provider !== provider.name) return { refused: 'expired', code: 'state' }
  const read = await provider.identify(answer, flow)
  return 'refused' in read ? { ...read, flow } : { identity: read, flow }
}
