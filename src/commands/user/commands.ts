import { add } from './add.ts'
import type { Command } from './command.ts'
import { deleteAccount } from './delete-account.ts'
import { disable, enable } from './disable.ts'
import { list } from './list.ts'
import { removeFactors } from './remove-factors.ts'
import { reset } from './reset.ts'
import { resetLink } from './reset-link.ts'
import { setPassword } from './set-password.ts'

/** The commands by name. */
export const commands: ReadonlyMap<string, Command> = new Map([
  ['add', add],
  ['list', list],
  ['reset', reset],
  ['reset-link', resetLink],
  ['set-password', setPassword],
  ['remove-factors', removeFactors],
  ['disable', disable],
  ['enable', enable],
  ['delete', deleteAccount],
])
