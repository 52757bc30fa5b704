/** A store for koa-session that keeps JSON, as a database does. */
export class MemoryStore {
  readonly #sessions = new Map<string, string>()
  reads = 0
  writes = 0

  get ids(): string[] {
    return [...this.#sessions.keys()]
  }

  /** The application's data in the only session, without `_expire`, `_maxAge` and the records of authentications. */
  get data(): Record<string, unknown> {
    const own = Object.entries(this.#content).filter(
      ([key]) => key !== '_expire' && key !== '_maxAge' && !key.endsWith(':authenticated'),
    )
    return Object.fromEntries(own)
  }

  /** The records of authentications in the only session. */
  get records(): Record<string, unknown> {
    const records = Object.entries(this.#content).filter(([key]) => key.endsWith(':authenticated'))
    return Object.fromEntries(records)
  }

  /** The lifetime of the only session, in milliseconds. */
  get maxAge(): unknown {
    return this.#content._maxAge
  }

  get #content(): Record<string, unknown> {
    const [text = '{}'] = this.#sessions.values()
    return JSON.parse(text)
  }

  /** Changes the data of the only session, for example to age it, or to imitate an older version. */
  change(change: (content: Record<string, unknown>) => void): void {
    const content = this.#content
    change(content)
    for (const id of this.ids) this.#sessions.set(id, JSON.stringify(content))
  }

  async get(id: string): Promise<unknown> {
    this.reads += 1
    const text = this.#sessions.get(id)
    return text && JSON.parse(text)
  }

  async set(id: string, data: unknown): Promise<void> {
    this.writes += 1
    this.#sessions.set(id, JSON.stringify(data))
  }

  async destroy(id: string): Promise<void> {
    this.#sessions.delete(id)
  }
}
