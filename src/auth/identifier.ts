import { randomFillSync } from 'node:crypto'

// Random bytes that nobody has had yet.
const pool = Buffer.alloc(32 * 128)
let used = pool.length

/**
 * A new identifier: 256 bits of a generator for keys, in base64url, for koa-session's `genid` or another cookie whose value
 * is looked up and so needs no signature. koa-session wants one for every request without a session, used or not, so
 * the bits are drawn by the hundred.
 */
export function newIdentifier(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += 32
  const identifier = pool.toString('base64url', used - 32, used)
  // Nobody who reads the memory of the process later is to find it here.
  pool.fill(0, used - 32, used)
  return identifier
}
