import { readLinkOrigin } from '../../config/public-url.ts'
import { createResetLink } from '../../features/reset-password/reset-link.ts'
import { CommandError } from '../command-error.ts'
import type { Command } from './command.ts'
import { findAccount, refuseDisabled } from './find-account.ts'

// The operator receives the link, so its use does not verify an e-mail address.
const noAddress = ''

/** Prints a link to choose a new password. The command itself does not change the password. */
export const resetLink: Command = {
  takesEmail: true,
  options: [],

  async run(call) {
    const account = await findAccount(call)
    refuseDisabled(account)
    const { email } = account
    const link = await createResetLink(call.em, { account, origin: readLinkOrigin(), email: noAddress })
    if (link === undefined)
      throw new CommandError(`The account of ${email} has just been changed. Run the command again.`)
    return `${link}\nSend this link to ${email}. It sets a new password once, within one hour. A newer link replaces it.`
  },
}
