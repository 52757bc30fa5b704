import { v7 as uuidv7 } from 'uuid'
import { insertEvent } from '../../account/activity/audit-trail.ts'
import type { Notice } from '../../account/notify.ts'
import { removeOtherWays } from '../../account/ways-to-sign-in.ts'
import { lockAccount } from '../../users/user.ts'
import { findAccount } from './account.ts'
import type { Call } from './command.ts'
import { notifyOwner } from './notify-owner.ts'

const factorsRemoved: Notice = {
  subject: 'Your authenticator app and passkeys were removed',
  text: 'The operator of the site removed the authenticator app, the recovery codes, the passkeys and the connected accounts of your account. A sign-in needs only the password. If you have none, ask for a link to choose one.',
  needsOperator: true,
}

/** Removes the authenticator app, the recovery codes, the passkeys and the connected accounts of a user who has lost them. */
export async function removeFactors(call: Call): Promise<string> {
  const account = await findAccount(call)
  const { id, email } = account
  const hasRemoved = await call.em.transactional(async (em) => {
    await lockAccount(em, { id })
    if (!(await removeOtherWays(em, id))) return false
    // A command has no IP address and no browser.
    const origin = { address: '', userAgent: 'npm-run-user', request: '' }
    await insertEvent(em, {
      id: uuidv7(),
      at: new Date(),
      event: 'second factors removed',
      detail: null,
      userId: id,
      ...origin,
    })
    await notifyOwner({ ...call, em }, account, factorsRemoved)
    return true
  })
  if (!hasRemoved) return `The user ${email} has no authenticator app, no passkeys and no connected accounts.`
  return `The authenticator app, the passkeys and the connected accounts of ${email} were removed. Sign-in now needs only the password. For an account without one: npm run user -- reset-link ${email}`
}
