import { endAccess } from '../../account/end-access.ts'
import { StoredPendingSignIn } from '../../account/second-factor/pending-sign-ins.ts'
import { pages } from '../pages.ts'
import { type Call, UsageError } from './command.ts'

/** Ends the sessions, tokens, one-time links and known devices of all users, for example after a leak. */
export async function endAll({ em, entity, options }: Call): Promise<string> {
  if (!options.yes) throw new UsageError('end-all signs out all users and ends all tokens. Add --yes.')
  const ended = { sessions: 0, tokens: 0 }
  for await (const page of pages(em, entity, { orderBy: { id: 'asc' } })) {
    const ids = page.map(({ id }) => id)
    await em.fork().transactional(async (em) => {
      const { sessions, tokens } = await endAccess(em, ids)
      await em.nativeDelete(StoredPendingSignIn, { user: ids }, { filters: false })
      ended.sessions += sessions
      ended.tokens += tokens
    })
  }
  return `Ended ${ended.sessions} sessions and ${ended.tokens} tokens of all users.`
}
