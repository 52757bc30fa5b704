import type { User } from '../../users/user.ts'
import { CommandError } from '../command-error.ts'
import type { Call } from './command.ts'

/** Finds the account of an e-mail address, including a disabled one. The case must match. */
export async function findAccount({ em, entity, email, noun, database }: Call): Promise<User> {
  const account = await em.findOne(entity, { email }, { filters: false })
  if (account) return account
  throw new CommandError(`There is no ${noun} ${email} in ${database}. The address is case-sensitive.`)
}

/** @throws {CommandError} if the account is disabled, because its links would not work */
export function refuseDisabled({ email, disabledAt }: Pick<User, 'email' | 'disabledAt'>): void {
  if (disabledAt)
    throw new CommandError(
      `The user ${email} is disabled, so a link would not work. Enable the account first: npm run user -- enable ${email}`,
    )
}
