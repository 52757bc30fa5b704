import type { Readable } from 'node:stream'
import type { EntityManager } from '@mikro-orm/core'
import type { Config } from '../../config/config.ts'
import type { Variables } from '../../config/environment.ts'
import type { AccountClass } from '../../users/admin.ts'
import { CommandError } from '../command-error.ts'

/** A command of `npm run user`. Returns the rest of the text to print, or throws `CommandError` if it cannot be carried out. */
export type Command = (call: Call) => Promise<string>

export interface Call {
  readonly em: EntityManager
  /** The name of the database, for messages. */
  readonly database: string
  readonly noun: 'user' | 'admin'
  /** `User`, or `Admin` with the same columns. */
  readonly entity: AccountClass
  readonly email: string
  readonly options: Options
  readonly siteName: string
  /** Reads the mail settings. Returns `undefined` if the site sends no mail. */
  readonly readMail: () => Config['mail']
  readonly variables: Variables
  /** A terminal, or a stream whose first line is a new password. */
  readonly input: Readable
  /** Prints a line at once. */
  readonly print: (line: string) => void
}

type Flag = 'admin' | 'generate' | 'invite' | 'json' | 'yes' | 'with-factors'

/** The options of all commands. */
export type Options = Readonly<Partial<Record<Flag, boolean> & Record<'name' | 'since', string>>>

export class UsageError extends CommandError {
  override readonly name = 'UsageError'

  constructor(problem: string) {
    super(`${problem}\nHelp: npm run user -- --help`)
  }
}
