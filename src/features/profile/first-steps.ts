import { entityManager } from '#auth/mikro-orm'
import { listPasskeys } from '../../account/passkeys/passkey.ts'
import { relyingParty } from '../../account/passkeys/site-passkeys.ts'
import type { Services } from '../../account/services.ts'
import { day } from '../../durations.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { isVerified, User } from '../../users/user.ts'

/** The steps to a safe account. `undefined` if the account is more than a day old, or if all steps are done. */
export async function firstSteps(services: Services, ctx: SiteContext) {
  const user = ctx.auth.require(User)
  if (Date.now() - user.createdAt.getTime() > day) return undefined
  const steps: { kind: 'address' | 'passkey' | 'app'; isDone: boolean }[] = []
  if (services.outbox) steps.push({ kind: 'address', isDone: isVerified(user) })
  if (relyingParty(services, ctx)) steps.push({ kind: 'passkey', isDone: await hasPasskey(ctx, user) })
  if (services.secretBox) steps.push({ kind: 'app', isDone: Boolean(user.secondFactorAt) })
  return steps.every(({ isDone }) => isDone) ? undefined : steps
}

/** Whether to offer a passkey: once, after a sign-in with the password to an account without passkeys. */
export async function takePasskeyOffer(services: Services, ctx: SiteContext): Promise<boolean> {
  const { session, method } = ctx
  if (!session.offersPasskey || !relyingParty(services, ctx)) return false
  if (method === 'GET') delete session.offersPasskey
  return !(await hasPasskey(ctx, ctx.auth.require(User)))
}

async function hasPasskey(ctx: SiteContext, { id }: User): Promise<boolean> {
  return (await listPasskeys(entityManager(ctx), id)).length > 0
}
