import { hash } from 'node:crypto'
import { networkOf } from './network.ts'

/** What attempts are counted by: digests of whom they are about and of where they come from. */
export type Key = Record<Column, string | null>
export type Column = 'account' | 'network' | 'device'

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

export function digestOf(part: string): string {
  return hash('sha256', part, 'base64url')
}
