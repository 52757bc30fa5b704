import { randomInt } from 'node:crypto'
import { Failure } from '../failure.ts'
import { hashPassword } from '../users/password.ts'
import { type PasswordOwner, passwordProblem } from '../users/password-problem.ts'
import { readPassword } from './read-password.ts'

/** The hash of a new password, and what to tell the operator of it. */
export interface ChosenPassword {
  readonly hash: string
  /** A line that shows a password that was made; empty for one that was typed. */
  readonly notice: string
}

/** Makes a password, or has one typed, which must be as good as at sign-up. */
export async function choosePassword(owner: PasswordOwner, { generate = false }): Promise<ChosenPassword> {
  if (generate) {
    const password = makePassword()
    return { hash: await hashPassword(password), notice: `\nThe password, shown this once: ${password}` }
  }
  const password = await readPassword(process.stdin, process.stderr)
  const problem = passwordProblem(password, owner)
  if (problem !== undefined) throw new Failure(problem)
  return { hash: await hashPassword(password), notice: '' }
}

/** Four times five letters and digits that cannot be taken for each other: 99 random bits, easy to read out. */
export function makePassword(): string {
  const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789'
  const group = () => Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('')
  return [group(), group(), group(), group()].join('-')
}
