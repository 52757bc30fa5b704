import { deleteAccount, disable, enable } from './account.ts'
import { add } from './add.ts'
import type { Command } from './command.ts'
import { endAll } from './end-all.ts'
import { events } from './events.ts'
import { list } from './list.ts'
import { removeFactors } from './remove-factors.ts'
import { reset, resetLink } from './reset.ts'
import { setPassword } from './set-password.ts'
import { show } from './show.ts'

/** `usage` has the address and the options of the command, and `parseCommandLine` accepts exactly these. */
type CommandSyntax = readonly [run: Command, usage: string, summary: string]

const table: Record<string, CommandSyntax> = {
  add: [add, 'EMAIL --name NAME [--admin] [--generate] [--invite]', 'Create an account'],
  list: [list, '[--admin] [--json] [--with-factors]', 'List users or admins'],
  show: [show, 'EMAIL [--admin] [--json]', 'Show an account, with its sessions, tokens and factors'],
  events: [events, '[EMAIL] [--admin] [--since TIME] [--json]', 'Print the events of an account, or all'],
  'end-all': [endAll, '--yes', 'End the sessions and tokens of all users'],
  reset: [reset, 'EMAIL', 'Mail a link that lets the user choose a new password'],
  'reset-link': [resetLink, 'EMAIL', 'Print a link that lets the user choose a new password'],
  'set-password': [setPassword, 'EMAIL [--admin] [--generate]', 'Set a password. Ends sessions and tokens'],
  'remove-factors': [removeFactors, 'EMAIL', 'Remove app, recovery codes, passkeys and connected accounts'],
  disable: [disable, 'EMAIL [--admin]', 'Block sign-in and end all sessions and tokens'],
  enable: [enable, 'EMAIL [--admin]', 'Allow sign-in again'],
  delete: [deleteAccount, 'EMAIL [--admin]', 'Delete an account with its sessions and tokens'],
}

export const commands: ReadonlyMap<string, CommandSyntax> = new Map(Object.entries(table))
