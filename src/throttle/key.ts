import { hash } from 'node:crypto'
import type { Action, Allowance, Column } from './allowance.ts'
import { networkOf } from './network.ts'

// Hexadecimal digits of an account's digest that tell its counters apart: 16 bits.
const sharedDigits = 4

/** The values that attempts are counted by, as digests. */
export type Key = Record<Column, string | null>

/** The key of an attempt. */
export function keyOf(attempt: {
  readonly account: string
  readonly address: string
  readonly device?: string | undefined
}): Key {
  const { account, address, device } = attempt
  return {
    account: digestOf(account),
    network: digestOf(networkOf(address)),
    device: device === undefined ? null : digestOf(device),
  }
}

/**
 * The name of a counter. Counters by account alone share 65,536 names, because a flood of invented accounts could
 * otherwise fill the table for a day. Accounts that share a counter are refused earlier, never later.
 */
export function counterOf(action: Action, { by, within, counts }: Allowance, key: Key): string {
  const isShared = by.length === 1 && by[0] === 'account'
  const values = isShared ? key.account?.slice(0, sharedDigits) : by.map((column) => key[column])
  return digestOf(`${action} ${within} ${counts} ${by} ${values}`)
}

/** The first 88 bits of SHA-256, in hexadecimal. */
export function digestOf(part: string): string {
  return hash('sha256', part).slice(0, 22)
}
