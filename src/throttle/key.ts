import { hash } from 'node:crypto'
import type { Action, Allowance, Column } from './allowance.ts'
import { networkOf } from './network.ts'

/** The digests of the values by which attempts are counted. */
export type Key = Record<Column, string | null>

export function keyOf(account: string, address: string, device?: string): Key {
  return {
    account: digestOf(account),
    network: digestOf(networkOf(address)),
    device: device === undefined ? null : digestOf(device),
  }
}

/** Whether an allowance counts by account only. */
export function isByAccount({ by }: Allowance): boolean {
  return by.length === 1 && by[0] === 'account'
}

/**
 * The name of a counter. A limit on passwords by account alone has 65,536 counters, so that invented accounts cannot fill the table.
 * Accounts that share a counter reach the limit earlier. The other limits have exact counters. Otherwise an attacker could
 * find an e-mail address that shares a user's counter, and block the user's mails.
 */
export function counterOf(action: Action, allowance: Allowance, key: Key): string {
  const { by, within, counts } = allowance
  const isShared = action === 'password' && isByAccount(allowance)
  const values = isShared ? key.account?.slice(0, 4) : by.map((column) => key[column])
  return digestOf(`${action} ${within} ${counts} ${by} ${values}`)
}

/** The first 88 bits of SHA-256, in hexadecimal. */
function digestOf(part: string): string {
  return hash('sha256', part).slice(0, 22)
}
