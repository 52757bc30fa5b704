/**
 * A place on a request for one thing, which nobody else can name: a property of the context under a symbol. A `WeakMap`
 * would do the same, but every request would pay for it again when memory is collected.
 */
export class Slot<Value> {
  readonly #key: symbol

  /** @param name for people who look at a context while debugging */
  constructor(name: string) {
    this.#key = Symbol(name)
  }

  /** What was put there; `undefined` before. */
  get(ctx: object): Value | undefined {
    // Nothing but `set` writes under this symbol.
    return (ctx as { [key: symbol]: Value | undefined })[this.#key]
  }

  set(ctx: object, value: Value): void {
    const slots = ctx as { [key: symbol]: Value }
    slots[this.#key] = value
  }
}
