import type { EntityManager } from '@mikro-orm/core'
import { Passkey } from '../../account/passkeys/passkey.ts'
import { isVerified, type User } from '../../users/user.ts'
import { pages } from '../pages.ts'
import type { Call } from './command.ts'

/** Prints the accounts, or those with a second factor or a passkey. */
export async function list({ em, entity, noun, database, options, print }: Call): Promise<string> {
  const isListed = ({ totp, passkeys }: AccountRecord) => !options['with-factors'] || totp || passkeys > 0
  let printed = 0
  const selection = { orderBy: { emailKey: 'asc' }, populate: ['emailKey'] } as const
  for await (const page of pages(em, entity, selection)) {
    for (const each of (await recordsOf(em.fork(), page)).filter(isListed)) {
      if (printed === 0 && !options.json) print(columns('STATE', 'FACTORS', 'CREATED', 'E-MAIL', 'NAME'))
      print(options.json ? JSON.stringify(each) : line(each))
      printed += 1
    }
  }
  return printed > 0 || options.json ? '' : `There are no such ${noun}s in ${database}.`
}

type AccountRecord = Awaited<ReturnType<typeof recordsOf>>[number]

async function recordsOf(em: EntityManager, accounts: readonly User[]) {
  const ids = accounts.map(({ id }) => id)
  const passkeys = await em.find(Passkey, { user: { $in: ids } }, { fields: ['user'], filters: false })
  const counts = Map.groupBy(passkeys, ({ user }) => user.id)
  return accounts.map((account) => {
    const { id, name, email, createdAt, disabledAt, secondFactorAt } = account
    return {
      ...{ id, name, email, createdAt, disabledAt: disabledAt ?? null, verified: isVerified(account) },
      ...{ totp: Boolean(secondFactorAt), passkeys: counts.get(id)?.length ?? 0 },
    }
  })
}

function line({ email, name, createdAt, disabledAt, totp, passkeys }: AccountRecord): string {
  const factors = [totp && 'app', passkeys > 0 && 'passkey'].filter(Boolean).join(', ') || 'none'
  const created = createdAt.toISOString().slice(0, 10)
  return columns(disabledAt ? 'disabled' : 'active', factors, created, email, name)
}

function columns(state: string, factors: string, created: string, ...rest: string[]): string {
  return [state.padEnd(8), factors.padEnd(12), created.padEnd(10), ...rest].join('  ')
}
