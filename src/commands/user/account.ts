import { eraseDetails } from '../../account/activity/event.ts'
import { endAccess } from '../../account/end-access.ts'
import { Admin } from '../../users/admin.ts'
import type { User } from '../../users/user.ts'
import { CommandError } from '../command-error.ts'
import type { Call } from './command.ts'

/** Disables an account, and ends its sessions, tokens and one-time links. */
export async function disable(call: Call): Promise<string> {
  const { em, entity, noun } = call
  const { id, email, disabledAt } = await findAccount(call)
  await em.transactional(async (em) => {
    await em.nativeUpdate(entity, { id }, { disabledAt: disabledAt ?? new Date() }, { filters: false })
    await endAccess(em, id)
  })
  return `The ${noun} ${email} is disabled. Sessions and tokens have ended.`
}

export async function enable(call: Call): Promise<string> {
  const { id, email } = await findAccount(call)
  await call.em.nativeUpdate(call.entity, { id }, { disabledAt: null }, { filters: false })
  return `The ${call.noun} ${email} is enabled.`
}

/** Deletes an account with its sessions and tokens. */
export async function deleteAccount(call: Call): Promise<string> {
  const { id, email } = await findAccount(call)
  await call.em.transactional(async (em) => {
    // The foreign keys delete sessions and tokens.
    await em.nativeDelete(call.entity, { id }, { filters: false })
    await eraseDetails(em, id)
  })
  return `The ${call.noun} ${email} is deleted.`
}

/** Finds an account by its e-mail address, even a disabled account. The letter case must match. */
export async function findAccount({ em, entity, email, noun, database }: Call): Promise<User> {
  const account = await em.findOne(entity, { email }, { filters: false })
  if (account) return account
  const isAdmin = entity !== Admin && (await em.count(Admin, { email }, { filters: false })) > 0
  const hint = isAdmin
    ? 'There is an admin with this address: add --admin.'
    : 'The address is case-sensitive.'
  throw new CommandError(`There is no ${noun} ${email} in ${database}. ${hint}`)
}
