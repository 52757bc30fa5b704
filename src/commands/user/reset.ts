import { sendsMail } from '../../config/mail.ts'
import { queueMail } from '../../mail/mail-queue.ts'
import { CommandError } from '../command-error.ts'
import type { Command } from './command.ts'
import { findAccount, refuseDisabled } from './find-account.ts'

/** Mails a link to choose a new password. The running site sends the mail. */
export const reset: Command = {
  takesEmail: true,
  options: [],

  async run(call) {
    requireMail('Print a link instead: npm run user -- reset-link EMAIL')
    const account = await findAccount(call)
    refuseDisabled(account)
    const { id, email } = account
    await queueMail(call.em, { kind: 'reset', to: email, userId: id })
    return `The running site mails a link to ${email}. It sets a new password once, within one hour.`
  },
}

/** @throws {CommandError} if the site sends no mail */
export function requireMail(remedy: string): void {
  if (!sendsMail()) throw new CommandError(`SMTP_URL is not set, so the site sends no mail. ${remedy}`)
}
