/**
 * Who waits for bcrypt: a line for each network or known device, which take turns, so that the length of one delays
 * nobody in another.
 */
export class HashingQueue<Item> {
  readonly #lines = new Map<string, Item[]>()
  #length = 0

  get length(): number {
    return this.#length
  }

  add(from: string, item: Item): void {
    const line = this.#lines.get(from)
    if (line) line.push(item)
    else this.#lines.set(from, [item])
    this.#length += 1
  }

  /** Takes out the first one of the line whose turn it is. */
  next(): Item | undefined {
    const [turn] = this.#lines
    if (!turn) return undefined
    const [from, line] = turn
    const [first] = line
    if (first === undefined) return undefined
    this.remove(from, first)
    // Its next turn comes after those of all others.
    if (this.#lines.delete(from)) this.#lines.set(from, line)
    return first
  }

  /** Takes out the last one of the longest line, if that line is the longer one even with one more in this. */
  giveWay(from: string): Item | undefined {
    let longest: [string, Item[]] | undefined
    for (const each of this.#lines) if (each[1].length > (longest?.[1].length ?? 0)) longest = each
    const own = this.#lines.get(from)?.length ?? 0
    const last = longest && longest[1].length > own + 1 ? longest[1].at(-1) : undefined
    if (longest && last !== undefined) this.remove(longest[0], last)
    return last
  }

  remove(from: string, item: Item): void {
    const line = this.#lines.get(from)
    const place = line?.indexOf(item) ?? -1
    if (!line || place < 0) return
    line.splice(place, 1)
    this.#length -= 1
    if (line.length === 0) this.#lines.delete(from)
  }
}
