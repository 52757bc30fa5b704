import { randomInt } from 'node:crypto'
import { overwritePassword, passwordChanged } from '../../account/end-access.ts'
import { hashPassword } from '../../users/password.ts'
import { type PasswordOwner, passwordProblem } from '../../users/password-problem.ts'
import { lockAccount } from '../../users/user.ts'
import { CommandError } from '../command-error.ts'
import { findAccount } from './account.ts'
import type { Call } from './command.ts'
import { notifyOwner } from './notify-owner.ts'
import { readPassword } from './read-password.ts'

/** Sets a new password, ends the sessions and tokens of the account, and resets its rate limits for passwords. */
export async function setPassword(call: Call): Promise<string> {
  const { em, entity, noun: kind } = call
  const account = await findAccount(call)
  const { id, name, email } = account
  const { hash, notice } = await choosePassword({ name, email }, call)
  await em.transactional(async (em) => {
    await lockAccount(em, { id }, entity)
    await overwritePassword(em, { kind, entity, id, email }, hash)
    await notifyOwner({ ...call, em }, account, passwordChanged)
  })
  return `The ${kind} ${email} has a new password. Sessions and tokens have ended.${notice}`
}

/**
 * Generates or reads a password, and checks it by the rules of sign-up. Returns its hash, and a notice that shows a
 * generated password to the operator.
 */
export async function choosePassword(owner: PasswordOwner, { options: { generate }, siteName, input }: Call) {
  const password = generate ? generatePassword() : await readPassword(input, process.stderr)
  const problem = passwordProblem(password, owner, siteName)
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
