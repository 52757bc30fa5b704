import { Failure } from '../failure.ts'
import type { User } from '../users/user.ts'
import type { Call } from './command.ts'

/** The account of exactly this e-mail address, disabled or not. */
export async function findAccount({ em, entity, email, noun, database }: Call): Promise<User> {
  const account = await em.findOne(entity, { email }, { filters: false })
  if (account) return account
  throw new Failure(
    `There is no ${noun} ${email} in ${database}. The address must be written as it was at sign-up.`,
  )
}
