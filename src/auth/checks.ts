import { Misuse } from './errors.ts'

/** The class of a user type. `ctx.auth` stores each user under the class itself, not under its name. */
export type Class<Value extends object = object> = abstract new (...args: never[]) => Value

/** The class of an instance. `login` rejects a value that is not an instance of a class. */
export function classOf<Value extends object>(value: Value): Class<Value> {
  return value?.constructor as Class<Value>
}

/** Returns the class. Throws `Misuse` unless the value is a class other than `Object`. */
export function requireClass<Type extends Class>(
  type: Type,
  message = 'Name the class of the user, as in `guard(User)`.',
): Type {
  if (typeof type !== 'function' || typeof type.prototype !== 'object' || (type as Class) === Object)
    throw new Misuse(message)
  return type
}

/** Throws `Misuse` unless the user is an instance of the class. */
export function requireInstance(user: object, type: Class): void {
  if (user instanceof requireClass(type, '`login()` needs an instance of a class.')) return
  const { name } = type
  throw new Misuse(`The user must be an instance of ${name}, such as \`new ${name}(row)\`, not a plain row.`)
}

/** Throws `Misuse` if Koa calls a static method as a middleware, because its parentheses are missing. */
export function requireCall(type: unknown, method: string): void {
  if (typeof type !== 'function') throw new Misuse(`Call \`${method}()\`, with parentheses.`)
}

/** Returns the result of a synchronous function of the application. Throws `Misuse` for a promise. */
export function requireSync<Result>(result: Result, name: string): Result {
  if (!(result instanceof Promise)) return result
  // An unhandled rejection would end the process.
  result.catch(() => undefined)
  throw new Misuse(`${name} must return its result, not a promise of it.`)
}

/** Returns the application's value if it is a boolean, else throws `Misuse`, because a promise is always truthy. */
export function requireBoolean(result: unknown, name: string): boolean {
  if (typeof result === 'boolean') return result
  throw new Misuse(`${name} must be \`true\` or \`false\`.`)
}
