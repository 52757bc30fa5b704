import type { EntityClass, EntityManager } from '@mikro-orm/core'
import type { User } from '../users/user.ts'

/** What the operator can do to accounts: one file each. */
export interface Command {
  /** After the name of the command: `EMAIL --name NAME`. */
  readonly usage: string
  /** A line of the list of commands. */
  readonly summary: string
  /** What else there is to know. */
  readonly details?: string
  readonly takesEmail: boolean
  readonly options: readonly OptionName[]
  /** Does it, and answers with what there is to print. Throws `Failure` if it cannot be done. */
  run(call: Call): Promise<string>
}

export interface Call {
  readonly em: EntityManager
  /** The database, for messages: the one that was meant? */
  readonly database: string
  readonly noun: 'user' | 'admin'
  /** `User`, or `Admin`, which has the same columns. */
  readonly entity: EntityClass<User>
  readonly email: string
  readonly options: Options
  /** A new password, typed or made; `owner` is what it must not be made of. */
  choosePassword(owner: { name: string; email: string }): Promise<ChosenPassword>
}

export interface ChosenPassword {
  readonly hash: string
  /** A line that shows a password that was made, or nothing. */
  readonly notice: string
}

export type OptionName = keyof typeof optionTypes
export type Options = { [Name in OptionName]?: { string: string; boolean: boolean }[(typeof optionTypes)[Name]] }

export const optionTypes = {
  admin: 'boolean',
  generate: 'boolean',
  json: 'boolean',
  name: 'string',
  help: 'boolean',
} as const

/** What was asked for cannot be done. The message is for the operator. */
export class Failure extends Error {
  override readonly name: string = 'Failure'
  readonly exitCode: number = 1
}

/** What was asked for cannot be understood. */
export class UsageError extends Failure {
  override readonly name = 'UsageError'
  override readonly exitCode = 2
}
