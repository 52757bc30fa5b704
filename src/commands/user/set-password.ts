import { overwritePassword } from '../../features/change-password/overwrite-password.ts'
import { lockAccount } from '../../users/lock-account.ts'
import { choosePassword } from './choose-password.ts'
import type { Command } from './command.ts'
import { findAccount } from './find-account.ts'
import { notifyOwner } from './notify-owner.ts'

/** Sets a new password, ends the sessions and tokens of the account, and resets its rate limits. A verified address gets a notice. */
export const setPassword: Command = {
  takesEmail: true,
  options: ['admin', 'generate'],

  async run(call) {
    const { em, entity, noun: kind } = call
    const account = await findAccount(call)
    const { id, name, email } = account
    const { hash, notice } = await choosePassword({ name, email }, call.options)
    await em.transactional(async (em) => {
      await lockAccount(em, { id }, entity)
      await overwritePassword(em, { kind, entity, id, email }, hash)
      await notifyOwner(em, account, 'password changed')
    })
    return `The ${kind} ${email} has a new password. Sessions and tokens have ended.${notice}`
  },
}
