import { Misuse } from './errors.ts'

/** A user type: any class of yours, or a persisted model. The class itself, never its name, is its key. */
export type Class<Value extends object = object> = abstract new (...args: never[]) => Value

/** Proves that it is a class that users can be told apart by: for plain JavaScript, and for objects without a class. */
export function proveClass(type: Class): void {
  if (typeof type !== 'function' || typeof type.prototype !== 'object' || type === Object)
    throw new Misuse('Name the class of the user, such as `guard(User)`; a plain object has none of its own.')
}
