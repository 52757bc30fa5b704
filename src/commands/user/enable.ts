import type { Command } from './command.ts'
import { findAccount } from './find-account.ts'

export const enable: Command = {
  usage: 'EMAIL [--admin]',
  summary: 'Enable a disabled account',
  takesEmail: true,
  options: ['admin'],

  async run(call) {
    const { id, email } = await findAccount(call)
    await call.em.nativeUpdate(call.entity, { id }, { disabledAt: null }, { filters: false })
    return `The ${call.noun} ${email} is enabled.`
  },
}
