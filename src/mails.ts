import { noticeMails } from './account/notify.ts'
import { addressMails } from './account/pending-address.ts'
import { resetMails } from './features/reset-password/reset-link.ts'
import { verifyMails } from './features/verify-email/verify-email.ts'
import type { MailKinds } from './mail/mail-kinds.ts'

/** All kinds of mail. */
export const mails: MailKinds = { ...resetMails, ...verifyMails, ...addressMails, ...noticeMails }
