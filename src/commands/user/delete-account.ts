import { eraseDetails } from '../../features/activity/event.ts'
import type { Command } from './command.ts'
import { findAccount } from './find-account.ts'

/** Deletes an account with its sessions and tokens. */
export const deleteAccount: Command = {
  takesEmail: true,
  options: ['admin'],

  async run(call) {
    const { id, email } = await findAccount(call)
    await call.em.transactional(async (em) => {
      // The foreign keys delete sessions and tokens.
      await em.nativeDelete(call.entity, { id }, { filters: false })
      await eraseDetails(em, id)
    })
    return `The ${call.noun} ${email} is deleted.`
  },
}
