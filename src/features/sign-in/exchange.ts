import { limited } from '../../account/limits.ts'
import { notifyOfProgram } from '../../account/notify.ts'
import { createToken } from '../../account/own-tokens.ts'
import type { Services } from '../../account/services.ts'
import { Refusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { queryParameter } from '../../site/query.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { SignedToken } from '../../users/signed-token.ts'
import { type User, userRecord } from '../../users/user.ts'
import { usualDays } from '../../users/user-token.ts'

const unknownAs = 'Unknown `as`. Use `jwt` or `user`, or omit it to get a bearer token.'

/** Responds to a password in the header with an opaque token, a JWT or the user's record. */
export async function exchange(services: Services, ctx: SiteContext, user: User): Promise<void> {
  await notifyOfProgram(services, ctx, user)
  const as = queryParameter(ctx, 'as')
  if (as === undefined || as === 'jwt') {
    ctx.body =
      as === 'jwt'
        ? { token: await services.keys.sign(new SignedToken(user.id, user.passwordChangedAt.getTime())) }
        : await newToken(services, ctx, user)
    return audit(ctx, 'token issued', user)
  }
  audit(ctx, 'password used', user)
  if (as !== 'user') throw new Refusal('invalid_parameter', unknownAs)
  ctx.body = userRecord(user)
}

function newToken(services: Services, ctx: SiteContext, { id: user }: User) {
  return limited(services, ctx, { action: 'token', account: user }, async () => {
    const { id, value, expiresAt } = await createToken(services, ctx, {
      name: 'From signing in',
      days: usualDays,
    })
    return { id, value, user: { id: user }, expiresAt }
  })
}
