import type { User } from '../../users/user.ts'
import type { Command } from './command.ts'

/** Lists all accounts. */
export const list: Command = {
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
  const width = accounts.reduce((most, { email }) => Math.max(most, email.length), 'E-MAIL'.length)
  const line = (email: string, state: string, created: string, name: string) =>
    `${email.padEnd(width)}  ${state.padEnd(8)}  ${created.padEnd(10)}  ${name}`
  const lines = accounts.map(({ email, name, createdAt, disabledAt }) =>
    line(email, disabledAt ? 'disabled' : 'active', createdAt.toISOString().slice(0, 10), name),
  )
  return [line('E-MAIL', 'STATE', 'CREATED', 'NAME'), ...lines].join('\n')
}
