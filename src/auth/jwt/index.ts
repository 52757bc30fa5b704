export type { Claims } from './claims.ts'
export { verifyCompact } from './compact.ts'
export { JWTKeyError } from './key.ts'
export { JWTKeys, type JWTKeysOptions } from './keys.ts'
export {
  JWTAuthenticator,
  JWTPayload,
  type JWTPayloadClass,
  type JWTVerifier,
  SessionToken,
} from './payload.ts'
export type { JWK } from './read-key.ts'
