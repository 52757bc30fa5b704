import { type Notice, withoutLinks } from '../../account/notify.ts'
import { queueMail } from '../../mail/mail-queue.ts'
import { isVerified, type User } from '../../users/user.ts'
import type { Call } from './command.ts'

/** Queues a notice about a change by the operator, if the address is verified and the site sends mail. Admins get none. */
export async function notifyOwner({ em, readMail }: Call, account: User, notice: Notice): Promise<void> {
  if (!isVerified(account) || !readMail()) return
  const { id: userId, email: to, name } = account
  const at = new Date().toISOString()
  const data = { ...notice, name: withoutLinks(name), at, device: 'The operator of the site' }
  await queueMail(em, { kind: 'notice', to, userId, data })
}
