import { endAccess } from '../../features/change-password/end-access.ts'
import type { Command } from './command.ts'
import { findAccount } from './find-account.ts'

/** Disables an account, and ends its sessions, tokens and one-time links. */
export const disable: Command = {
  takesEmail: true,
  options: ['admin'],

  async run(call) {
    const { em, entity, noun } = call
    const { id, email, disabledAt } = await findAccount(call)
    await em.transactional(async (em) => {
      await em.nativeUpdate(entity, { id }, { disabledAt: disabledAt ?? new Date() }, { filters: false })
      await endAccess(em, id)
    })
    return `The ${noun} ${email} is disabled. Sessions and tokens have ended.`
  },
}

/** Enables a disabled account. */
export const enable: Command = {
  takesEmail: true,
  options: ['admin'],

  async run(call) {
    const { id, email } = await findAccount(call)
    await call.em.nativeUpdate(call.entity, { id }, { disabledAt: null }, { filters: false })
    return `The ${call.noun} ${email} is enabled.`
  },
}
