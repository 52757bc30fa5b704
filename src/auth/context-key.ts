/**
 * A key for one value on the context of a request: a private symbol property. It is faster than a `WeakMap`, whose entries
 * cost time at every garbage collection.
 */
export class ContextKey<Value> {
  readonly #key: symbol

  /** @param name shown by a debugger */
  constructor(name: string) {
    this.#key = Symbol(name)
  }

  /** The value of that context; `undefined` before `set`. */
  get(ctx: object): Value | undefined {
    // Only `set` writes under this symbol.
    return (ctx as { [key: symbol]: Value | undefined })[this.#key]
  }

  set(ctx: object, value: Value): void {
    const values = ctx as { [key: symbol]: Value }
    values[this.#key] = value
  }
}
