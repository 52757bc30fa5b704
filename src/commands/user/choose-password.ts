import { randomInt } from 'node:crypto'
import { readStorageConfig } from '../../config/config.ts'
import { hashPassword } from '../../users/password.ts'
import { type PasswordOwner, passwordProblem } from '../../users/password-problem.ts'
import { CommandError } from '../command-error.ts'
import type { Options } from './command.ts'
import { readPassword } from './read-password.ts'

/**
 * Generates a password, or reads one and applies the rules of sign-up. Returns its hash, and a notice that shows a
 * generated password to the operator.
 */
export async function choosePassword(
  owner: PasswordOwner,
  { generate = false }: Options,
): Promise<{ hash: string; notice: string }> {
  const password = generate ? generatePassword() : await readPassword(process.stdin, process.stderr)
  const problem = passwordProblem(password, owner, readStorageConfig().siteName)
  if (problem !== undefined) throw new CommandError(problem)
  const notice = generate ? `\nThe password, shown this once: ${password}` : ''
  return { hash: await hashPassword(password), notice }
}

// Four groups of five unambiguous letters and digits: 99 random bits.
function generatePassword(): string {
  const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789'
  const group = () => Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('')
  return [group(), group(), group(), group()].join('-')
}
