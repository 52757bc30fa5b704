import type { TestContext } from 'node:test'
import bcrypt from 'bcrypt'

/** Counts the calls of bcrypt and their rounds until the test ends. The returned function reads and resets both counts. */
export function countHashes(t: TestContext): () => { evaluations: number; rounds: number } {
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
