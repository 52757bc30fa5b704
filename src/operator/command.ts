import type { EntityClass, EntityManager } from '@mikro-orm/core'
import { Failure } from '../failure.ts'
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
}

export interface Options {
  readonly admin?: boolean
  readonly generate?: boolean
  readonly json?: boolean
  readonly name?: string
}

export type OptionName = keyof Options

/** What was asked for cannot be understood. */
export class UsageError extends Failure {
  override readonly name = 'UsageError'

  constructor(what: string) {
    super(`${what}\nHelp: npm run user -- --help`)
  }
}
