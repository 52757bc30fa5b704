import type { TestContext } from 'node:test'
import bcrypt from 'bcrypt'

/** What was asked of bcrypt since the count began: how often, and the rounds that it took in all. */
export interface HashCount {
  readonly evaluations: number
  readonly rounds: number
}

/** Counts what is asked of bcrypt until the test ends. What it returns begins the count anew, and tells what it was. */
export function countHashes(t: TestContext): () => HashCount {
  const costs: number[] = []
  const { compare, hash } = bcrypt
  t.mock.method(bcrypt, 'compare', (password: string, stored: string) => {
    costs.push(Number(stored.slice(4, 6)))
    return compare(password, stored)
  })
  t.mock.method(bcrypt, 'hash', (password: string, cost: number) => {
    costs.push(cost)
    return hash(password, cost)
  })
  return () => {
    const counted = costs.splice(0)
    return { evaluations: counted.length, rounds: counted.reduce((sum, cost) => sum + 2 ** cost, 0) }
  }
}
