import { createHmac } from 'node:crypto'
import bcrypt from 'bcrypt'
import { type HashingOptions, HashingSlots } from './hashing-slots.ts'

// bcrypt ignores the bytes after the 72nd.
const BCRYPT_BYTES = 72
/** The hash of an account without a password. No password matches it. */
export const noPassword = '!'
export const MAXIMUM_PASSWORD_BYTES = 1024
const USABLE_HASH = /^\$2[ab]\$(?:0[4-9]|1[0-5])\$[./A-Za-z\d]{53}$/

let currentCost = 12
let slots = new HashingSlots()

/** Sets the cost of new hashes and of the dummy hash: the binary logarithm of the rounds. */
export function setBcryptCost(cost: number): void {
  currentCost = cost
}

/** Shares the cores of the machine among a number of processes, including this one. */
export function shareCores(processes: number): void {
  slots = new HashingSlots({ processes })
}

/** The numbers of running, waiting and refused hashes of this process. */
export function hashingState(): HashingSlots['state'] {
  return slots.state
}

/**
 * Hashes a password that passed `passwordProblem`.
 * @throws {RangeError} if it is ill-formed or too long
 */
export async function hashPassword(password: string, options?: HashingOptions): Promise<string> {
  const bytes = passwordBytes(password)
  if (bytes === undefined)
    throw new RangeError('This password cannot be hashed: check it with passwordProblem.')
  return slots.run(() => bcrypt.hash(bcryptInput(bytes), currentCost), options)
}

/**
 * Whether the password matches the hash. If the stored hash is unusable or has a lower cost, a mismatch still takes the time
 * of one hash at the current cost. An ill-formed or too long password never matches, and is not hashed for any account.
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
    // A hash with a lower cost would take less time, and so reveal that its account exists. Each step of the cost doubles the
    // work, so dummy hashes with the costs from the stored one to the current one (exclusive) complete the work.
    for (let cost = costOf(hash); !matches && cost < currentCost; cost += 1) {
      await bcrypt.compare(input, dummyHash(cost))
    }
    return matches
  }, options)
}

/** Whether a stored hash is a bcrypt hash with a cost that takes seconds at most. */
export function isUsableHash(hash: string): boolean {
  return USABLE_HASH.test(hash)
}

/** Whether the cost of a usable hash differs from the current cost. */
export function isOutdated(hash: string): boolean {
  return costOf(hash) !== currentCost
}

/** The bytes of a password that are hashed: NFC, UTF-8. `undefined` if it is ill-formed or too long. */
export function passwordBytes(password: string): Buffer | undefined {
  // A longer text always has too many bytes, because NFC shortens a text by a factor of four at most.
  if (password.length > 4 * MAXIMUM_PASSWORD_BYTES || !password.isWellFormed()) return undefined

  const bytes = Buffer.from(password.normalize('NFC'))
  return bytes.length <= MAXIMUM_PASSWORD_BYTES ? bytes : undefined
}

function bcryptInput(bytes: Buffer): Buffer | string {
  // bcrypt repeats the password and a NUL up to 72 bytes, so `abc` and `abc\0abc` would be equal.
  const isWhole = bytes.length <= BCRYPT_BYTES && !bytes.includes(0)
  return isWhole ? bytes : createHmac('sha384', 'koa-authenticators/bcrypt/v1').update(bytes).digest('base64')
}

function costOf(hash: string): number {
  return Number(hash.slice(4, 6))
}

/** A hash that no password matches. */
function dummyHash(cost = currentCost): string {
  return `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}`
}
