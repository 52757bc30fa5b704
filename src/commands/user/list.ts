import type { User } from '../../users/user.ts'
import type { Command } from './command.ts'

export const list: Command = {
  usage: '[--admin] [--json]',
  summary: 'List all accounts',
  details: 'JSON without the output of npm: npm run --silent user -- list --json',
  takesEmail: false,
  options: ['admin', 'json'],

  async run({ em, entity, noun, database, options }) {
    const accounts = await em.findAll(entity, { filters: false, orderBy: { emailKey: 'asc' } })
    if (options.json) return JSON.stringify(accounts.map(record), undefined, 2)
    return accounts.length > 0 ? table(accounts) : `There are no ${noun}s in ${database} yet.`
  },
}

function record({ id, name, email, createdAt, disabledAt }: User) {
  return { id, name, email, createdAt, disabledAt: disabledAt ?? null }
}

function table(accounts: User[]): string {
  const head = { email: 'E-MAIL', state: 'STATE', created: 'CREATED', name: 'NAME' }
  const rows = [head, ...accounts.map(row)]
  const width = rows.reduce((most, { email }) => Math.max(most, email.length), 0)
  return rows
    .map(
      (row) => `${row.email.padEnd(width)}  ${row.state.padEnd(8)}  ${row.created.padEnd(10)}  ${row.name}`,
    )
    .join('\n')
}

function row({ email, name, createdAt, disabledAt }: User) {
  const state = disabledAt ? 'disabled' : 'active'
  return { email, state, created: createdAt.toISOString().slice(0, 10), name }
}
