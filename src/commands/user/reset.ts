import { readPart } from '../../config/environment.ts'
import { readLinkOrigin } from '../../config/public-url.ts'
import { createResetLink } from '../../features/reset-password/reset-link.ts'
import { queueMail } from '../../mail/mail-queue.ts'
import type { User } from '../../users/user.ts'
import { CommandError } from '../command-error.ts'
import { findAccount } from './account.ts'
import type { Call } from './command.ts'

/** Mails a link to choose a new password. The running site sends the mail. */
export async function reset(call: Call): Promise<string> {
  requireMail(call, 'Print a link instead: npm run user -- reset-link EMAIL')
  const { id, email } = await findEnabled(call)
  await queueMail(call.em, { kind: 'reset', to: email, userId: id })
  return `The running site mails a link to ${email}. The link sets a new password once, within one hour.`
}

/** Prints a link to choose a new password. The command itself does not change the password. */
export async function resetLink(call: Call): Promise<string> {
  const account = await findEnabled(call)
  const { email } = account
  const link = await createResetLink(call.em, {
    account,
    origin: readPart(call.variables, readLinkOrigin),
    // The link goes to the operator, so its use does not verify an e-mail address.
    email: '',
  })
  if (link === undefined)
    throw new CommandError(`The account of ${email} has just been changed. Run the command again.`)
  return `${link}\nSend this link to ${email}. It sets a new password once, within one hour. A newer link replaces it.`
}

/** @throws {CommandError} if the site sends no mail */
export function requireMail({ readMail }: Call, remedy: string): void {
  if (!readMail()) throw new CommandError(`SMTP_URL is not set, so the site sends no mail. ${remedy}`)
}

async function findEnabled(call: Call): Promise<User> {
  const account = await findAccount(call)
  if (!account.disabledAt) return account
  const { email } = account
  throw new CommandError(
    `The user ${email} is disabled, so a link would not work. Enable the account first: npm run user -- enable ${email}`,
  )
}
