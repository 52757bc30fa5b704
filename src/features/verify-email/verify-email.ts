import type { Next } from 'koa'
import { guard } from '#auth'
import { entityManager } from '#auth/mikro-orm'
import { basic } from '../../account/basic.ts'
import { countMail } from '../../account/mail-limit.ts'
import { owner } from '../../account/owner.ts'
import { confirmNewAddress } from '../../account/pending-address.ts'
import type { Services } from '../../account/services.ts'
import { requireSession } from '../../account/sessions/current-session.ts'
import type { CreateLink } from '../../mail/mail-kinds.ts'
import type { Outbox } from '../../mail/outbox.ts'
import { Refusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { formAgain, type ShowPage, textFields } from '../../site/form.ts'
import { showInvalidLinkPage, withoutReferrer } from '../../site/link-page.ts'
import { complete, page, seeOther, wantsPage } from '../../site/page.ts'
import { queryParameter } from '../../site/query.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import {
  consumeOneTimeToken,
  findOneTimeToken,
  issueOneTimeToken,
  type OneTimeToken,
} from '../../users/one-time-tokens.ts'
import { isVerified, User } from '../../users/user.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    verify: {
      token: string
      next: string
      email?: string | undefined
      isOtherAccount: boolean
      isRefused: boolean
    }
  }
}

declare module '../../mail/message.ts' {
  interface Mails {
    /** A link that verifies the address of an account. */
    verify: undefined
  }
}

/** How long a verification link works: three days in milliseconds. */
const lifetime = 3 * 24 * 60 * 60_000

const otherAccount = 'This link belongs to another account. Sign in to that account first.'

/**
 * `/verify`: confirms an address with the token of a link. The user must be signed in to the account of the link. Otherwise
 * a stranger could sign up with another person's address, and a click of that person would confirm the account.
 * `POST /account/verification` mails a new link.
 */
export function verifyEmail(
  router: SiteRouter,
  services: Services,
  { outbox, showProfile }: { outbox: Outbox; showProfile: ShowPage },
): void {
  const showGonePage = showInvalidLinkPage({ isReset: false })

  router.get('/verify', withoutReferrer, showGonePage, async (ctx) => {
    const token = queryParameter(ctx, 'token') ?? ''
    await linkPage(ctx, token, await findLink(ctx, token))
  })

  router.post('/verify', withoutReferrer, showGonePage, basic(services), guardJson, async (ctx) => {
    const { token } = textFields(ctx, 'token')
    const grant = await findLink(ctx, token)
    if (ctx.auth.get(User)?.id !== grant.user.id) {
      if (!wantsPage(ctx)) throw new Refusal('session_required', otherAccount)
      // The session has ended or changed since the browser loaded the page with the button.
      ctx.status = 401
      return linkPage(ctx, token, grant)
    }
    if (grant.purpose === 'verify') {
      await verifyAddress(ctx, token)
      return complete(ctx, '/account', 'Your e-mail address is confirmed.')
    }
    await confirmNewAddress(services, ctx, token)
    const notice = 'Your e-mail address has been changed. Sign in with the new address from now on.'
    complete(ctx, '/account', notice)
  })

  router.post('/account/verification', ...owner(services), formAgain(showProfile), async (ctx) => {
    const user = ctx.auth.require(User)
    await countMail(services, ctx, 'verify', user.email)
    const mail = { kind: 'verify', to: user.email, userId: user.id } as const
    if (!isVerified(user)) await outbox.add(entityManager(ctx), mail)
    audit(ctx, 'verification link requested', user)
    const detail = isVerified(user)
      ? `Your e-mail address ${user.email} is already confirmed.`
      : `We have sent a link to ${user.email}. It works for three days.`
    if (wantsPage(ctx)) return seeOther(ctx, '/account', detail)
    ctx.status = 202
    ctx.body = { detail }
  })
}

/** Creates the link when the mail is sent, unless the address was verified or changed after the mail was queued. */
const createVerificationLink: CreateLink = async ({ address, userId = '' }, { em, origin }) => {
  const account = await em.findOne(User, { id: userId, email: address })
  if (!account || isVerified(account)) return undefined
  const token = await issueOneTimeToken(em, { purpose: 'verify', account, lifetime })
  return token === undefined ? undefined : { url: `${origin}/verify?token=${token}`, lifetime }
}

export const verifyMails = {
  verify: { subject: 'Confirm your e-mail address', createLink: createVerificationLink },
}

const guardUser = guard(User)
const guardJson = (ctx: SiteContext, next: Next) => (wantsPage(ctx) ? next() : guardUser(ctx, next))

/** Shows a button in a session of the account. Otherwise offers the sign-in or the sign-out. */
function linkPage(ctx: SiteContext, token: string, grant: OneTimeToken): Promise<void> {
  const user = ctx.auth.get(User)
  return page(ctx, 'verify', {
    token,
    next: `/verify?token=${token}`,
    email: user?.id === grant.user.id ? grant.email : undefined,
    isOtherAccount: user !== undefined && user.id !== grant.user.id,
    isRefused: ctx.method === 'POST',
  })
}

function findLink(ctx: SiteContext, token: string): Promise<OneTimeToken> {
  return findOneTimeToken(entityManager(ctx), token, ['verify', 'change-email'])
}

async function verifyAddress(ctx: SiteContext, token: string): Promise<void> {
  const user = await entityManager(ctx).transactional(async (em) => {
    const grant = await consumeOneTimeToken(em, token, ['verify'])
    await requireSession(em, ctx)
    await em.nativeUpdate(User, { id: grant.user.id }, { emailVerifiedAt: new Date() })
    return grant.user
  })
  audit(ctx, 'address verified', user)
}
