import { randomFillSync } from 'node:crypto'

// Random bytes that are not used yet, drawn 128 identifiers at a time, because every request without a session takes one.
const pool = Buffer.alloc(32 * 128)
let used = pool.length

/** A new identifier for a cookie that is looked up and so needs no signature: 256 random bits, in base64url. */
export function newIdentifier(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += 32
  const identifier = pool.toString('base64url', used - 32, used)
  // A later copy of the memory does not contain it.
  pool.fill(0, used - 32, used)
  return identifier
}
