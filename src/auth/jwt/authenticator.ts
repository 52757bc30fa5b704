import type { AuthContext } from '../auth.ts'
import type { BearerAuthorization } from '../authorization.ts'
import { BearerAuthenticator } from '../bearer.ts'
import { Misuse } from '../errors.ts'
import type { JWTKeys } from './keys.ts'
import type { JWTPayload, JWTPayloadClass } from './payload.ts'

/**
 * Verifies a signed token in the bearer header and logs in its payload (specification, "JWTAuthenticator"). Invalid,
 * expired and foreign tokens are no match, so that the next authenticator gets its turn. Asks no database.
 */
export class JWTAuthenticator<Payload extends JWTPayload = JWTPayload> extends BearerAuthenticator<Payload> {
  override readonly user: JWTPayloadClass<Payload>
  readonly #keys: JWTKeys

  constructor(user: JWTPayloadClass<Payload>, keys: JWTKeys) {
    super()
    if (typeof keys?.admit !== 'function')
      throw new Misuse(`Give the keys of its tokens: \`${user.name}.authenticator(new JWTKeys(…))\`.`)
    keys.admit(user)
    this.user = user
    this.#keys = keys
  }

  override authenticate({ token }: BearerAuthorization, ctx: AuthContext): void {
    const payload = this.#keys.verify(token, this.user)
    if (payload) ctx.auth.login(payload, this.user)
  }
}
