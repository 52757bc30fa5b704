export { databases, entityManager, type LookUps } from './databases.ts'
export { KeyLookUp } from './key-look-up.ts'
export { LastUses } from './last-uses.ts'
export { LookUp } from './look-up.ts'
export type { LookUpOptions } from './look-ups.ts'
export type { ModelOptions } from './model.ts'
export {
  ModelAuthenticatable,
  ModelAuthenticatable as ModelCredentialsAuthenticatable,
  type PasswordKeys,
  PasswordModel,
  type PasswordModelClass,
} from './password-model.ts'
export { ModelSessionAuthenticatable, SessionModel, type SessionModelClass } from './session-model.ts'
export {
  generateToken,
  ModelTokenAuthenticatable,
  type TokenKeys,
  TokenModel,
  type TokenModelClass,
} from './token-model.ts'
