import { Misuse } from './errors.ts'

/** The class of a user type. The store uses the class itself as the key, not its name. */
export type Class<Value extends object = object> = abstract new (...args: never[]) => Value

/** Throws `Misuse` unless the value is a class other than `Object`. */
export function requireClass(type: Class): void {
  if (typeof type !== 'function' || typeof type.prototype !== 'object' || type === Object)
    throw new Misuse(
      'Name the class of the user, as in `guard(User)`. A plain object has no class of its own.',
    )
}
