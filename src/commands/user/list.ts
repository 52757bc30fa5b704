import type { EntityManager } from '@mikro-orm/core'
import { Passkey } from '../../features/passkeys/passkey.ts'
import type { User } from '../../users/user.ts'
import type { Call } from './command.ts'

export async function list({ em, entity, noun, database, options }: Call): Promise<string> {
  const accounts = await em.findAll(entity, { filters: false, orderBy: { emailKey: 'asc' } })
  const passkeys = await countPasskeys(em)
  const records = accounts.map((account) => record(account, passkeys.get(account.id) ?? 0))
  if (options.json) return JSON.stringify(records, undefined, 2)
  return records.length > 0 ? table(records) : `There are no ${noun}s in ${database} yet.`
}

type AccountRecord = ReturnType<typeof record>

function record({ id, name, email, createdAt, disabledAt, secondFactorAt }: User, passkeys: number) {
  const totp = Boolean(secondFactorAt)
  return { id, name, email, createdAt, disabledAt: disabledAt ?? null, totp, passkeys }
}

async function countPasskeys(em: EntityManager): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  const found = await em.find(Passkey, {}, { fields: ['user'], filters: false })
  for (const { user } of found) counts.set(user.id, (counts.get(user.id) ?? 0) + 1)
  return counts
}

function table(accounts: AccountRecord[]): string {
  const width = accounts.reduce((most, { email }) => Math.max(most, email.length), 'E-MAIL'.length)
  const line = (email: string, state: string, factors: string, created: string, name: string) =>
    `${email.padEnd(width)}  ${state.padEnd(8)}  ${factors.padEnd(12)}  ${created.padEnd(10)}  ${name}`
  const lines = accounts.map(({ email, name, createdAt, disabledAt, totp, passkeys }) => {
    const state = disabledAt ? 'disabled' : 'active'
    const factors = [totp && 'app', passkeys > 0 && 'passkey'].filter(Boolean).join(', ') || 'none'
    return line(email, state, factors, createdAt.toISOString().slice(0, 10), name)
  })
  return [line('E-MAIL', 'STATE', 'FACTORS', 'CREATED', 'NAME'), ...lines].join('\n')
}
