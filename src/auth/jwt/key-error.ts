import { AuthError } from '../errors.ts'

/** 500: a key or secret is not fit for signing tokens. Thrown when keys are put together; never holds any of the key. */
export class JWTKeyError extends AuthError {
  override readonly name = 'JWTKeyError'
  readonly status = 500
  readonly code = 'ERR_AUTH_JWT_KEY'
  override readonly expose = false
}
