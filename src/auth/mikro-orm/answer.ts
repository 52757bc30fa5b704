/** The values of a row's columns, in the order of the statement. */
export type Row = readonly unknown[]

/**
 * What a statement answers. Not a promise of the row itself: of any object that it is given, a promise asks for a `then`, in the object
 * and in all of its prototypes.
 */
export class Answer {
  /** When it is there. Never rejects. */
  readonly ready: Promise<unknown>
  #row: Row | undefined
  #failure: { readonly error: unknown } | undefined

  constructor(ready: Promise<unknown>) {
    this.ready = ready
  }

  /**
   * The row, if there is one, once the answer is there. Throws where the statement could not be asked: ask MikroORM in the usual way
   * then, which may know how to wait.
   *
   * @throws `Busy` where this was no moment for it; any other error where the statement may be good for nothing any more
   */
  row(): Row | undefined {
    if (this.#failure) throw this.#failure.error
    return this.#row
  }

  /** For whoever has asked the database. */
  give(row: Row | undefined): void {
    this.#row = row
  }

  /** For whoever could not. */
  fail(error: unknown): void {
    this.#failure ??= { error }
  }
}
