import { randomInt } from 'node:crypto'
import { hashPassword } from '../../users/password.ts'
import { type PasswordOwner, passwordProblem } from '../../users/password-problem.ts'
import { CommandError } from '../command-error.ts'
import { readPassword } from './read-password.ts'

/** The hash of a new password, and a line for the operator. */
export interface ChosenPassword {
  readonly hash: string
  /** Shows a generated password. Empty for a typed one. */
  readonly notice: string
}

/** Generates a password, or reads one and applies the rules of sign-up. */
export async function choosePassword(owner: PasswordOwner, { generate = false }): Promise<ChosenPassword> {
  if (generate) {
    const password = generatePassword()
    return { hash: await hashPassword(password), notice: `\nThe password, shown this once: ${password}` }
  }
  const password = await readPassword(process.stdin, process.stderr)
  const problem = passwordProblem(password, owner)
  if (problem !== undefined) throw new CommandError(problem)
  return { hash: await hashPassword(password), notice: '' }
}

/** Four groups of five unambiguous letters and digits: 99 random bits. */
export function generatePassword(): string {
  const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789'
  const group = () => Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('')
  return [group(), group(), group(), group()].join('-')
}
