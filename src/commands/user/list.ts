import type { EntityManager } from '@mikro-orm/core'
import { Passkey } from '../../account/passkeys/passkey.ts'
import { emailKey } from '../../users/email.ts'
import { isVerified, type User } from '../../users/user.ts'
import { findAccount } from './account.ts'
import type { Call, Options } from './command.ts'
import { pages } from './pages.ts'

/** Prints the accounts that meet the options. */
export async function list({ em, entity, noun, database, options, print }: Call): Promise<string> {
  const find = (after: User | undefined, limit: number) => {
    const where = { emailKey: { $gt: emailKey(after?.email ?? '') } }
    return em.fork().find(entity, where, { filters: false, orderBy: { emailKey: 'asc' }, limit })
  }
  let printed = 0
  let width = 0
  for await (const page of pages(find)) {
    const records = (await recordsOf(em.fork(), page)).filter((each) => isListed(each, options))
    width ||= widthOf(records)
    for (const each of records) {
      if (options.json) print(`${printed === 0 ? '[' : ','}${JSON.stringify(each)}`)
      else print(printed === 0 ? `${header(width)}\n${line(each, width)}` : line(each, width))
      printed += 1
    }
  }
  if (options.json) return printed > 0 ? ']' : '[]'
  return printed > 0 ? '' : `There are no such ${noun}s in ${database}.`
}

/** Prints one account. */
export async function show(call: Call): Promise<string> {
  const records = await recordsOf(call.em, [await findAccount(call)])
  if (call.options.json) return JSON.stringify(records[0], undefined, 2)
  const width = widthOf(records)
  return [header(width), ...records.map((each) => line(each, width))].join('\n')
}

type AccountRecord = Awaited<ReturnType<typeof recordsOf>>[number]

async function recordsOf(em: EntityManager, accounts: readonly User[]) {
  const ids = accounts.map(({ id }) => id)
  const counts = new Map<string, number>()
  for (const { user } of await em.find(Passkey, { user: { $in: ids } }, { fields: ['user'], filters: false }))
    counts.set(user.id, (counts.get(user.id) ?? 0) + 1)
  return accounts.map((account) => {
    const { id, name, email, createdAt, disabledAt, secondFactorAt } = account
    return {
      ...{ id, name, email, createdAt, disabledAt: disabledAt ?? null, verified: isVerified(account) },
      ...{ totp: Boolean(secondFactorAt), passkeys: counts.get(id) ?? 0 },
    }
  })
}

/** Whether an account meets all conditions of the options. */
function isListed(account: AccountRecord, options: Options): boolean {
  const hasFactors = account.totp || account.passkeys > 0
  if (options.disabled && !account.disabledAt) return false
  if (options.unverified && account.verified) return false
  if (options['with-factors'] && !hasFactors) return false
  return !(options['without-factors'] && hasFactors)
}

function widthOf(records: readonly AccountRecord[]): number {
  return records.reduce((most, { email }) => Math.max(most, email.length), 'E-MAIL'.length)
}

function header(width: number): string {
  return columns(width, 'E-MAIL', 'STATE', 'FACTORS', 'CREATED', 'NAME')
}

function line({ email, name, createdAt, disabledAt, totp, passkeys }: AccountRecord, width: number): string {
  const state = disabledAt ? 'disabled' : 'active'
  const factors = [totp && 'app', passkeys > 0 && 'passkey'].filter(Boolean).join(', ') || 'none'
  return columns(width, email, state, factors, createdAt.toISOString().slice(0, 10), name)
}

function columns(
  width: number,
  email: string,
  state: string,
  factors: string,
  created: string,
  name: string,
) {
  return `${email.padEnd(width)}  ${state.padEnd(8)}  ${factors.padEnd(12)}  ${created.padEnd(10)}  ${name}`
}
