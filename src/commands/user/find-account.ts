import type { User } from '../../users/user.ts'
import { CommandError } from '../command-error.ts'
import type { Call } from './command.ts'

/** Finds the account of an e-mail address, including a disabled one. The case must match. */
export async function findAccount({ em, entity, email, noun, database }: Call): Promise<User> {
  const account = await em.findOne(entity, { email }, { filters: false })
  if (account) return account
  throw new CommandError(`There is no ${noun} ${email} in ${database}. Capital letters in the address count.`)
}
