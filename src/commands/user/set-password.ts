import { sendsMail } from '../../config/mail.ts'
import { overwritePassword } from '../../features/change-password/overwrite-password.ts'
import { withoutLinks } from '../../features/notices/notify.ts'
import { queueMail } from '../../mail/mail-queue.ts'
import type { NoticeData } from '../../mail/notices.ts'
import { lockAccount } from '../../users/lock-account.ts'
import { isVerified } from '../../users/person.ts'
import { choosePassword } from './choose-password.ts'
import type { Command } from './command.ts'
import { findAccount } from './find-account.ts'

/** Sets a new password, ends the sessions and tokens of the account, and resets its rate limits. A verified address gets a notice. */
export const setPassword: Command = {
  takesEmail: true,
  options: ['admin', 'generate'],

  async run(call) {
    const { em, entity, noun: kind } = call
    const account = await findAccount(call)
    const { id, name, email } = account
    // Admins have no verified addresses.
    const getsNotice = isVerified(account) && sendsMail()
    const { hash, notice } = await choosePassword({ name, email }, call.options)
    await em.transactional(async (em) => {
      await lockAccount(em, { id }, entity)
      await overwritePassword(em, { kind, entity, id, email }, hash)
      if (getsNotice) await queueMail(em, { kind: 'notice', to: email, userId: id, data: noticeOf(name) })
    })
    return `The ${kind} ${email} has a new password. Sessions and tokens have ended.${notice}`
  },
}

function noticeOf(name: string): NoticeData {
  const at = new Date().toISOString()
  return { event: 'password changed', name: withoutLinks(name), at, device: 'The operator of the site' }
}
