import type { Row } from './rows.ts'

/** What has the same key on both sides; what is on one side only has no other. */
export interface Pair {
  readonly source: Row | undefined
  readonly target: Row | undefined
}

/**
 * Goes through the rows of two databases at the same time, both in the order of their keys.
 * @param options `end` is where it ends: behind the last row of both, or of the target
 */
export async function* pairs(
  sources: AsyncGenerator<Row>,
  targets: AsyncGenerator<Row>,
  { end = 'both' }: { end?: 'both' | 'target' } = {},
): AsyncGenerator<Pair> {
  let [source, target] = [await next(sources), await next(targets)]
  while (target || (source && end === 'both')) {
    const order = compare(source, target)
    yield { source: order <= 0 ? source : undefined, target: order >= 0 ? target : undefined }
    if (order <= 0) source = await next(sources)
    if (order >= 0) target = await next(targets)
  }
}

/** Whether both sides have the row, with the same in it. */
export function isSame({ source, target }: Pair): boolean {
  return source?.text === target?.text
}

async function next(rows: AsyncGenerator<Row>): Promise<Row | undefined> {
  const { done, value } = await rows.next()
  return done ? undefined : value
}

// The end comes behind everything else.
function compare(one: Row | undefined, other: Row | undefined): number {
  if (!one || !other) return one ? -1 : 1
  const differing = one.key.findIndex((value, i) => value !== other.key[i])
  if (differing < 0) return 0
  return String(one.key[differing]) < String(other.key[differing]) ? -1 : 1
}
