import { UniqueConstraintViolationException } from '@mikro-orm/core'
import { Failure } from '../failure.ts'
import { emailKey, emailProblem } from '../users/email.ts'
import { nameProblem } from '../users/person-name.ts'
import { choosePassword } from './choose-password.ts'
import { type Call, type Command, UsageError } from './command.ts'

export const add: Command = {
  usage: 'EMAIL --name NAME [--admin] [--generate]',
  summary: 'Make an account',
  takesEmail: true,
  options: ['name', 'admin', 'generate'],

  async run(call) {
    const { em, entity, email, noun, database, options } = call
    const name = options.name?.trim()
    if (name === undefined) throw new UsageError('A new account needs a --name.')
    refuseIf(nameProblem(name) ?? emailProblem(email))
    if (await em.count(entity, { emailKey: emailKey(email) }, { filters: false })) throw taken(call)

    const { hash, notice } = await choosePassword({ name, email }, call.options)
    em.create(entity, { name, email, emailKey: emailKey(email), passwordHash: hash })
    try {
      await em.flush()
    } catch (error) {
      throw error instanceof UniqueConstraintViolationException ? taken(call) : error
    }
    return `Added the ${noun} ${email} to ${database}.${notice}`
  },
}

function refuseIf(problem: string | undefined): void {
  if (problem !== undefined) throw new Failure(problem)
}

function taken({ noun, email, database }: Call): Failure {
  return new Failure(
    `There is already the ${noun} ${email} in ${database}, perhaps in other upper and lower case.`,
  )
}
