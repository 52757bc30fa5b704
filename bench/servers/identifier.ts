import { randomFillSync } from 'node:crypto'

const random = Buffer.alloc(4096)
let used = random.length

/** 256 random bits, generated in bulk, because koa-session needs an identifier for each request without a session. */
export function newIdentifier(): string {
  if (used === random.length) {
    randomFillSync(random)
    used = 0
  }
  used += 32
  return random.toString('base64url', used - 32, used)
}
