import { endAccess } from '../../features/change-password/end-access.ts'
import { resetAttempts } from '../../throttle/throttle.ts'
import { accountKey } from '../../users/check-credentials.ts'
import { lockAccount } from '../../users/lock-account.ts'
import { choosePassword } from './choose-password.ts'
import type { Command } from './command.ts'
import { findAccount } from './find-account.ts'

/** Sets a new password, ends the sessions and tokens of the account, and resets its throttle. */
export const setPassword: Command = {
  takesEmail: true,
  options: ['admin', 'generate'],

  async run(call) {
    const { em, entity, noun } = call
    const { id, name, email } = await findAccount(call)
    const { hash, notice } = await choosePassword({ name, email }, call.options)
    await em.transactional(async (em) => {
      await lockAccount(em, { id }, entity)
      // Set after the lock, which may take seconds: older signed tokens end at this time.
      const change = { passwordHash: hash, passwordChangedAt: new Date() }
      await em.nativeUpdate(entity, { id }, change, { filters: false })
      await endAccess(em, id)
      await resetAttempts(em, { action: 'password', account: accountKey({ kind: noun, username: email }) })
    })
    return `The ${noun} ${email} has a new password. Sessions and tokens have ended.${notice}`
  },
}
