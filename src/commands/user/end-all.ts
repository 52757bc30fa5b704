import { endAccess } from '../../account/end-access.ts'
import { StoredPendingSignIn } from '../../account/second-factor/pending-sign-ins.ts'
import { type Call, UsageError } from './command.ts'

const pageSize = 1_000

/** Ends the sessions, tokens, one-time links and known devices of all users, for example after a leak. */
export async function endAll({ em, entity, options }: Call): Promise<string> {
  if (!options.yes) throw new UsageError('end-all signs out all users and ends all tokens. Add --yes.')
  const ended = { sessions: 0, tokens: 0 }
  for (let after = '', isMore = true; isMore; ) {
    const where = after === '' ? {} : { id: { $gt: after } }
    const page = await em
      .fork()
      .find(entity, where, { filters: false, fields: ['id'], orderBy: { id: 'asc' }, limit: pageSize })
    const ids = page.map(({ id }) => id)
    await em.fork().transactional(async (em) => {
      const { sessions, tokens } = await endAccess(em, ids)
      await em.nativeDelete(StoredPendingSignIn, { user: ids }, { filters: false })
      ended.sessions += sessions
      ended.tokens += tokens
    })
    after = ids.at(-1) ?? ''
    isMore = page.length === pageSize
  }
  return `Ended ${ended.sessions} sessions and ${ended.tokens} tokens of all users.`
}
