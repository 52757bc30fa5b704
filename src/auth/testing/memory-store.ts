/** A store for koa-session that keeps JSON, as a database does. */
export class MemoryStore {
  readonly #sessions = new Map<string, string>()
  reads = 0
  writes = 0

  get ids(): string[] {
    return [...this.#sessions.keys()]
  }

  /** The application's data in the only session, without koa-session's own fields. */
  get data(): Record<string, unknown> {
    const [text = '{}'] = this.#sessions.values()
    const { _expire, _maxAge, ...data } = JSON.parse(text)
    return data
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
