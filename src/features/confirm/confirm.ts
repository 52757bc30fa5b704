import { credentialsSent } from '#auth'
import { entityManager } from '#auth/mikro-orm'
import { afterSignIn } from '../../account/complete-sign-in.ts'
import { currentPasswordProblem, owner, signedIn } from '../../account/owner.ts'
import {
  confirmationOptions,
  confirmedByPasskey,
  passkeyMethods,
  passkeyRefused,
} from '../../account/passkeys/check-passkey.ts'
import { verifyCode, wrongCode } from '../../account/second-factor/verify-code.ts'
import type { Services } from '../../account/services.ts'
import { renewSession } from '../../account/sessions/session-cookie.ts'
import { Refusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { challenges } from '../../site/challenges.ts'
import { fieldsOf, formAgain, refuseProblems, textFields } from '../../site/form.ts'
import { complete, page, takeNotice, wantsPage } from '../../site/page.ts'
import { queryParameter } from '../../site/query.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import type { FormMessage } from '../../site/view-data.ts'
import { hasPassword } from '../../users/has-password.ts'
import { listIdentities } from '../../users/linked-identity.ts'
import { User } from '../../users/user.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    confirm: {
      next?: string | undefined
      /** The path that "Cancel" links to. */
      back: string
      /** What the user wants to do. */
      purpose: string
      hasApp: boolean
      hasPassword: boolean
      /** The ids of the providers whose accounts are connected. */
      connected: readonly string[]
      passkeyOptions?: string | undefined
    }
  }
}

const sections = [
  { back: '/account/tokens', purpose: 'create an API token' },
  { back: '/account/security', purpose: 'change how you sign in' },
  { back: '/account/password', purpose: 'change your password' },
  { back: '/account/email', purpose: 'change your e-mail address' },
  { back: '/account/close', purpose: 'close your account' },
]

/** `/confirm`: asks a signed-in user for a proof of identity before a sensitive action. */
export function confirm(router: SiteRouter, services: Services): void {
  router.get('/confirm', signedIn, (ctx) => showForm(services, ctx, queryParameter(ctx, 'next')))

  router.post(
    '/confirm',
    ...owner(services),
    formAgain((ctx, errors) => showAgain(services, ctx, errors)),
    async (ctx) => {
      const user = ctx.auth.require(User)
      if (credentialsSent(ctx))
        throw new Refusal(
          400,
          'A request with an `Authorization` header needs no confirmation, because it contains the password.',
        )
      const { problem, field, methods } = await checkProof(services, ctx, user)
      if (problem === undefined) return completeConfirmation(ctx, user, methods)
      const error = field === 'code' ? 'second_factor_wrong' : 'wrong_credentials'
      if (!wantsPage(ctx)) throw new Refusal(error, problem, challenges(ctx))
      ctx.status = 401
      return showAgain(services, ctx, [{ field, detail: problem }])
    },
  )
}

/**
 * Checks the passkey in the body, or else the code of an account with an authenticator app, or the password of another account. Returns
 * the methods (RFC 8176), and the problem if the proof is wrong.
 */
async function checkProof(services: Services, ctx: SiteContext, user: User) {
  const { password, code, credential } = textFields(ctx, 'password', 'code', 'credential')
  if (credential !== '') {
    const isRight = await confirmedByPasskey(services, ctx, user, credential)
    return { methods: passkeyMethods, problem: isRight ? undefined : passkeyRefused, field: undefined }
  }
  if (user.secondFactorAt) {
    if (fieldsOf(ctx).code === undefined && !wantsPage(ctx))
      throw new Refusal('second_factor_required', 'Send the code of the app as `code`.', challenges(ctx))
    refuseProblems({ code: code.trim() === '' ? 'Enter the code of the app.' : undefined })
    const isRight = await verifyCode(services, ctx, user, code)
    return { methods: ['otp'], problem: isRight ? undefined : wrongCode, field: 'code' }
  }
  return {
    methods: ['pwd'],
    problem: await currentPasswordProblem(services, ctx, password),
    field: 'password',
  }
}

function completeConfirmation(ctx: SiteContext, user: User, methods: readonly string[]): void {
  renewSession(ctx, user, methods)
  audit(ctx, 'confirmed', user)
  const path = afterSignIn(textFields(ctx, 'next').next || undefined)
  // The start page of a section shows a notice, because the user has to press the button on it again.
  const isStart = sectionOf(path)?.back === path.split('?', 1)[0]
  complete(ctx, path, isStart ? 'Thank you. You can continue now.' : undefined)
}

const showAgain = (services: Services, ctx: SiteContext, errors: FormMessage[]) =>
  showForm(services, ctx, textFields(ctx, 'next').next, errors)

async function showForm(
  services: Services,
  ctx: SiteContext,
  requested: unknown,
  errors: FormMessage[] = [],
): Promise<void> {
  const user = ctx.auth.require(User)
  const next = requested === undefined || requested === '' ? undefined : afterSignIn(requested)
  const { back, purpose } = sectionOf(next ?? '') ?? { back: '/account', purpose: 'continue' }
  const passkeyOptions = await confirmationOptions(services, ctx, user)
  const hasApp = Boolean(user.secondFactorAt)
  const em = entityManager(ctx)
  // The provider is one factor, like the password, so it is not enough for an account with an app.
  const identities = hasApp ? [] : await listIdentities(em, user.id)
  await page(ctx, 'confirm', {
    next,
    back,
    purpose,
    hasApp,
    hasPassword: await hasPassword(em, user.id),
    connected: identities.map(({ provider }) => provider),
    passkeyOptions,
    errors,
    notice: takeNotice(ctx),
  })
}

function sectionOf(path: string) {
  return sections.find(({ back }) => path.startsWith(back))
}
