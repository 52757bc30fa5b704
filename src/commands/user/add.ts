import { UniqueConstraintViolationException } from '@mikro-orm/core'
import { emailKey, emailProblem } from '../../users/email.ts'
import { nameProblem } from '../../users/person-name.ts'
import { CommandError } from '../command-error.ts'
import { choosePassword } from './choose-password.ts'
import { type Call, type Command, UsageError } from './command.ts'

/** Creates an account. */
export const add: Command = {
  takesEmail: true,
  options: ['name', 'admin', 'generate'],

  async run(call) {
    const { em, entity, email, noun, database, options } = call
    const name = options.name?.trim()
    if (name === undefined) throw new UsageError('A new account needs a --name.')
    const problem = nameProblem(name) ?? emailProblem(email)
    if (problem !== undefined) throw new CommandError(problem)
    if (await em.count(entity, { emailKey: emailKey(email) }, { filters: false })) throw emailTaken(call)

    const { hash, notice } = await choosePassword({ name, email }, options)
    em.create(entity, { name, email, emailKey: emailKey(email), passwordHash: hash })
    try {
      await em.flush()
    } catch (error) {
      throw error instanceof UniqueConstraintViolationException ? emailTaken(call) : error
    }
    return `Added the ${noun} ${email} to ${database}.${notice}`
  },
}

function emailTaken({ noun, email, database }: Call): CommandError {
  return new CommandError(
    `The ${noun} ${email} already exists in ${database}, perhaps with different capital letters.`,
  )
}
