import { deleteAccount, disable, enable } from './account.ts'
import { add } from './add.ts'
import type { Command, Options } from './command.ts'
import { endAll } from './end-all.ts'
import { events } from './events.ts'
import { list, show } from './list.ts'
import { removeFactors } from './remove-factors.ts'
import { reset, resetLink } from './reset.ts'
import { setPassword } from './set-password.ts'

interface CommandSyntax {
  readonly run: Command
  /** `one` by default. */
  readonly email?: 'one' | 'no' | 'at most one'
  readonly options?: readonly (keyof Options)[]
}

const filters = ['disabled', 'unverified', 'with-factors', 'without-factors'] as const

export const commands: ReadonlyMap<string, CommandSyntax> = new Map<string, CommandSyntax>([
  ['add', { run: add, options: ['name', 'admin', 'generate', 'invite'] }],
  ['list', { run: list, email: 'no', options: ['admin', 'json', ...filters] }],
  ['show', { run: show, options: ['admin', 'json'] }],
  ['events', { run: events, email: 'at most one', options: ['admin', 'json', 'since'] }],
  ['end-all', { run: endAll, email: 'no', options: ['yes'] }],
  ['reset', { run: reset }],
  ['reset-link', { run: resetLink }],
  ['set-password', { run: setPassword, options: ['admin', 'generate'] }],
  ['remove-factors', { run: removeFactors }],
  ['disable', { run: disable, options: ['admin'] }],
  ['enable', { run: enable, options: ['admin'] }],
  ['delete', { run: deleteAccount, options: ['admin'] }],
])
