import { createHmac } from 'node:crypto'
import bcrypt from 'bcrypt'
import { type HashingOptions, HashingSlots } from './hashing-slots.ts'

// The libraries of bcrypt ignore what comes after this byte.
const BCRYPT_BYTES = 72
export const MAXIMUM_PASSWORD_BYTES = 1024
const USABLE_HASH = /^\$2[ab]\$(?:0[4-9]|1[0-5])\$[./A-Za-z\d]{53}$/

// The cost of new hashes and of the dummy hash.
let currentCost = 12

// Every evaluation of bcrypt in this process takes one.
let slots = new HashingSlots()

/** Sets the cost (the binary logarithm of the rounds) at which passwords are hashed from now on. */
export function setBcryptCost(cost: number): void {
  currentCost = cost
}

/** Shares the cores of the machine among so many processes, this one included. */
export function shareCores(processes: number): void {
  slots = new HashingSlots({ processes })
}

/**
 * Hashes a password that `passwordProblem` found nothing wrong with.
 * @throws {RangeError} if it cannot be hashed whole: ill-formed, or too long
 */
export async function hashPassword(password: string, options?: HashingOptions): Promise<string> {
  const bytes = passwordBytes(password)
  if (bytes === undefined)
    throw new RangeError('This password cannot be hashed: check it with passwordProblem.')
  return slots.run(() => bcrypt.hash(bcryptInput(bytes), currentCost), options)
}

/**
 * Whether the password belongs to the hash. The work of one hash is done whatever is stored, so that time tells nothing;
 * a stored hash that is damaged, or costs more than we would ever ask, belongs to no password. A password that nobody
 * can have (ill-formed, too long) is not hashed for anybody.
 */
export async function verifyPassword(
  password: string,
  hash: string,
  options?: HashingOptions,
): Promise<boolean> {
  const bytes = passwordBytes(password)
  if (bytes === undefined) return false

  const input = bcryptInput(bytes)
  return slots.run(async () => {
    if (!isUsableHash(hash)) {
      await bcrypt.compare(input, dummyHash())
      return false
    }
    const matches = await bcrypt.compare(input, hash)
    // A hash from a cheaper time would give away that its user exists: `c`, `c`, `c + 1`, … add up to one of today's.
    for (let cost = costOf(hash); !matches && cost < currentCost; cost += 1) {
      await bcrypt.compare(input, dummyHash(cost))
    }
    return matches
  }, options)
}

/** Does the work of `verifyPassword` for a user who does not exist, so that the time tells nothing. */
export async function hashDummyPassword(password: string, options?: HashingOptions): Promise<void> {
  await verifyPassword(password, dummyHash(), options)
}

/** Whether a stored hash is one that bcrypt made, at a cost that ends within seconds. */
export function isUsableHash(hash: string): boolean {
  return USABLE_HASH.test(hash)
}

/** Whether a usable hash was made at another cost than one would be now. */
export function isOutdated(hash: string): boolean {
  return costOf(hash) !== currentCost
}

/** A password as it is hashed and measured: NFC, UTF-8. `undefined` if it is ill-formed or too long for anybody's. */
export function passwordBytes(password: string): Buffer | undefined {
  // Composing shortens a text by less than four times: what is longer than this cannot come down to the limit.
  if (password.length > 4 * MAXIMUM_PASSWORD_BYTES || !password.isWellFormed()) return undefined

  const bytes = Buffer.from(password.normalize('NFC'))
  return bytes.length <= MAXIMUM_PASSWORD_BYTES ? bytes : undefined
}

function bcryptInput(bytes: Buffer): Buffer | string {
  // bcrypt repeats its key, with a NUL after it, up to 72 bytes: `abc` and `abc\0abc` would be the same password.
  const isWhole = bytes.length <= BCRYPT_BYTES && !bytes.includes(0)
  return isWhole ? bytes : createHmac('sha384', 'koa-authenticators/bcrypt/v1').update(bytes).digest('base64')
}

function costOf(hash: string): number {
  return Number(hash.slice(4, 6))
}

/** A hash that belongs to no password: its result is all zeros. */
function dummyHash(cost = currentCost): string {
  return `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}`
}
