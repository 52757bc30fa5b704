import type { Command } from './command.ts'
import { endAccess } from './end-access.ts'
import { findAccount } from './find-account.ts'

export const setPassword: Command = {
  usage: 'EMAIL [--admin] [--generate]',
  summary: 'give an account a new password; its sessions and tokens end',
  takesEmail: true,
  options: ['admin', 'generate'],

  async run(call) {
    const { em, entity, noun } = call
    const { id, name, email } = await findAccount(call)
    const { hash, notice } = await call.choosePassword({ name, email })
    await em.transactional(async (em) => {
      await em.nativeUpdate(entity, { id }, { passwordHash: hash }, { filters: false })
      await endAccess(em, id)
    })
    return `The ${noun} ${email} has a new password. Sessions and tokens have ended.${notice}`
  },
}
