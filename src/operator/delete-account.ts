import type { Command } from './command.ts'
import { findAccount } from './find-account.ts'

export const deleteAccount: Command = {
  usage: 'EMAIL [--admin]',
  summary: 'Remove an account for good, with its sessions and tokens',
  takesEmail: true,
  options: ['admin'],

  async run(call) {
    const { id, email } = await findAccount(call)
    // Sessions and tokens go with their user: the database sees to it.
    await call.em.nativeDelete(call.entity, { id }, { filters: false })
    return `The ${call.noun} ${email} is deleted.`
  },
}
