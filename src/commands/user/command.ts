import type { EntityClass, EntityManager } from '@mikro-orm/core'
import type { User } from '../../users/user.ts'
import { CommandError } from '../command-error.ts'

/** A command of `npm run user`. Each has its own file. */
export interface Command {
  /** The arguments: `EMAIL --name NAME`. */
  readonly usage: string
  /** Its line in the list of commands. */
  readonly summary: string
  /** A further paragraph of its help. */
  readonly details?: string
  readonly takesEmail: boolean
  readonly options: readonly OptionName[]
  /**
   * Runs the command. Returns the text to print.
   * @throws {CommandError} if it cannot be carried out
   */
  run(call: Call): Promise<string>
}

/** The arguments of a command. */
export interface Call {
  readonly em: EntityManager
  /** The name of the database, for messages. */
  readonly database: string
  readonly noun: 'user' | 'admin'
  /** `User`, or `Admin` with the same columns. */
  readonly entity: EntityClass<User>
  readonly email: string
  readonly options: Options
}

/** The options of a command. */
export interface Options {
  readonly admin?: boolean
  readonly generate?: boolean
  readonly json?: boolean
  readonly name?: string
}

/** The name of an option. */
export type OptionName = keyof Options

/** The command line is not valid. */
export class UsageError extends CommandError {
  override readonly name = 'UsageError'

  constructor(what: string) {
    super(`${what}\nHelp: npm run user -- --help`)
  }
}
