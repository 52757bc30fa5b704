import { randomBytes } from 'node:crypto'
import { UniqueConstraintViolationException } from '@mikro-orm/core'
import { queueMail } from '../../mail/mail-queue.ts'
import { emailProblem } from '../../users/email.ts'
import { hashPassword } from '../../users/password.ts'
import { nameProblem } from '../../users/person-name.ts'
import { emailKey } from '../../users/user.ts'
import { CommandError } from '../command-error.ts'
import { type Call, UsageError } from './command.ts'
import { requireMail } from './reset.ts'
import { choosePassword } from './set-password.ts'

export async function add(call: Call): Promise<string> {
  const { em, entity, email, noun, database, options } = call
  const name = options.name?.trim()
  if (name === undefined) throw new UsageError('A new account needs a --name.')
  const problem = nameProblem(name) ?? emailProblem(email)
  if (problem !== undefined) throw new CommandError(problem)
  if (await em.count(entity, { emailKey: emailKey(email) }, { filters: false })) throw emailTaken(call)

  const { hash, notice } = options.invite
    ? await invitation(call)
    : await choosePassword({ name, email }, call)
  try {
    await em.transactional(async (em) => {
      const { id } = em.create(entity, { name, email, emailKey: emailKey(email), passwordHash: hash })
      await em.flush()
      if (options.invite) await queueMail(em, { kind: 'invite', to: email, userId: id })
    })
  } catch (error) {
    throw error instanceof UniqueConstraintViolationException ? emailTaken(call) : error
  }
  return `Added the ${noun} ${email} to ${database}.${notice}`
}

/** Returns the hash of a random password that is discarded. The user chooses the first password with a link in a mail. */
async function invitation(call: Call) {
  const { options, email } = call
  if (options.admin || options.generate)
    throw new UsageError('--invite cannot be combined with --admin or --generate.')
  requireMail(call, 'Leave out --invite.')
  const hash = await hashPassword(randomBytes(32).toString('base64url'))
  const notice = `\nThe running site mails a link to ${email}. The link sets the first password once, within 24 hours.`
  return { hash, notice }
}

function emailTaken({ noun, email, database }: Call): CommandError {
  return new CommandError(
    `The ${noun} ${email} already exists in ${database}, perhaps with different capital letters.`,
  )
}
