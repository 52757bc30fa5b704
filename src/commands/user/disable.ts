import { endAccess } from '../../features/change-password/end-access.ts'
import type { Command } from './command.ts'
import { findAccount } from './find-account.ts'

export const disable: Command = {
  usage: 'EMAIL [--admin]',
  summary: 'Disable an account, and end its sessions and tokens',
  details:
    'POST /validateLoggedInUser accepts signed tokens (JWT) for up to 15 more minutes, because it reads no database.',
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
