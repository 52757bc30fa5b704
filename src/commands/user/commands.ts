import { deleteAccount, disable, enable } from './account.ts'
import { add } from './add.ts'
import type { Command, Options } from './command.ts'
import { list, show } from './list.ts'
import { removeFactors } from './remove-factors.ts'
import { reset, resetLink } from './reset.ts'
import { setPassword } from './set-password.ts'

interface CommandSyntax {
  readonly run: Command
  readonly takesEmail?: boolean
  readonly options?: readonly (keyof Options)[]
}

export const commands: ReadonlyMap<string, CommandSyntax> = new Map<string, CommandSyntax>([
  ['add', { run: add, options: ['name', 'admin', 'generate', 'invite'] }],
  [
    'list',
    {
      run: list,
      takesEmail: false,
      options: ['admin', 'json', 'disabled', 'unverified', 'with-factors', 'without-factors'],
    },
  ],
  ['show', { run: show, options: ['admin', 'json'] }],
  ['reset', { run: reset }],
  ['reset-link', { run: resetLink }],
  ['set-password', { run: setPassword, options: ['admin', 'generate'] }],
  ['remove-factors', { run: removeFactors }],
  ['disable', { run: disable, options: ['admin'] }],
  ['enable', { run: enable, options: ['admin'] }],
  ['delete', { run: deleteAccount, options: ['admin'] }],
])
