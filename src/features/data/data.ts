import type { EntityManager } from '@mikro-orm/core'
import { entityManager } from '#auth/mikro-orm'
import { type Event, eventPage, eventRecord } from '../../account/activity/event.ts'
import { validTokens } from '../../account/own-tokens.ts'
import { owner } from '../../account/owner.ts'
import { listPasskeys, passkeyRecord } from '../../account/passkeys/passkey.ts'
import type { Services } from '../../account/services.ts'
import { liveSessions } from '../../account/sessions/live-sessions.ts'
import { audit } from '../../site/audit.ts'
import type { SiteRouter } from '../../site/site-context.ts'
import { identityRecord, listIdentities } from '../../users/linked-identity.ts'
import { isVerified, User, userRecord } from '../../users/user.ts'

// More than an account can cause by hand in 180 days. A response must not use up the memory.
const maxRows = 10_000

/** `POST /account/data`: sends the data of the account as a JSON file, without secrets. Not `GET`, because it is recorded and counted. */
export function data(router: SiteRouter, services: Services): void {
  router.post('/account/data', ...owner(services), async (ctx) => {
    const user = ctx.auth.require(User)
    const em = entityManager(ctx)
    const { createdAt, passwordChangedAt, secondFactorAt } = user
    ctx.body = {
      profile: {
        ...userRecord(user),
        isEmailConfirmed: isVerified(user),
        createdAt,
        passwordChangedAt,
        authenticatorAppSince: secondFactorAt ?? null,
      },
      sessions: await liveSessions(services, ctx),
      tokens: await validTokens(ctx, services.uses.tokens, { before: undefined, limit: maxRows }),
      passkeys: (await listPasskeys(em, user.id)).map(passkeyRecord),
      connectedAccounts: (await listIdentities(em, user.id)).map(identityRecord),
      activity: (await allEvents(em, user)).map(eventRecord),
    }
    ctx.attachment('my-data.json')
    audit(ctx, 'data downloaded', user)
  })
}

async function allEvents(em: EntityManager, { id }: User): Promise<Event[]> {
  const events: Event[] = []
  let before: string | undefined
  do {
    const page = await eventPage(em, id, { before })
    events.push(...page.events)
    before = page.last
  } while (before !== undefined && events.length < maxRows)
  return events
}
