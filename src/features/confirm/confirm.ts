import { credentialsSent } from '#auth'
import { entityManager } from '#auth/mikro-orm'
import { requestedNext } from '../../account/complete-sign-in.ts'
import { currentPasswordProblem, owner, signedIn } from '../../account/owner.ts'
import {
  checkPasskey,
  confirmation,
  confirmationOptions,
  passkeyMethods,
  passkeyRefused,
} from '../../account/passkeys/check-passkey.ts'
import { verifyCode, wrongCode } from '../../account/second-factor/verify-code.ts'
import type { Services } from '../../account/services.ts'
import { replaceSession } from '../../account/sessions/session-cookie.ts'
import { FieldRefusal, Refusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { fieldsOf, formAgain, refuseProblems, textFields } from '../../site/form.ts'
import { complete, page, takeNotice, wantsPage } from '../../site/page.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import type { FormMessage } from '../../site/view-data.ts'
import { hasPassword } from '../../users/has-password.ts'
import { listIdentities } from '../../users/linked-identity.ts'
import { User } from '../../users/user.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    confirm: Awaited<ReturnType<typeof dataOf>>
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
  const showForm = async (ctx: SiteContext, errors: FormMessage[] = []) => {
    const data = await dataOf(services, ctx)
    await page(ctx, 'confirm', { ...data, errors, notice: takeNotice(ctx) })
  }

  router.get('/confirm', signedIn, (ctx) => showForm(ctx))

  router.post('/confirm', ...owner(services), formAgain(showForm), async (ctx) => {
    const user = ctx.auth.require(User)
    if (credentialsSent(ctx))
      throw new Refusal(
        400,
        'A request with an `Authorization` header needs no confirmation, because it contains the password.',
      )
    completeConfirmation(ctx, user, await checkProof(services, ctx, user))
  })
}

/**
 * Checks the passkey in the body, or else the code of an account with an authenticator app, or the password of another account. Returns
 * the methods (RFC 8176).
 * @throws {FieldRefusal} 401 if the proof is wrong
 */
async function checkProof(services: Services, ctx: SiteContext, user: User): Promise<readonly string[]> {
  const { password, code, credential } = textFields(ctx, 'password', 'code', 'credential')
  if (credential !== '') {
    const use = { ceremony: confirmation(ctx), credential, user }
    if (await checkPasskey(services, ctx, use)) return passkeyMethods
    throw new FieldRefusal('wrong_credentials', [{ field: 'passkey', detail: passkeyRefused }])
  }
  if (user.secondFactorAt) {
    if (fieldsOf(ctx).code === undefined && !wantsPage(ctx))
      throw new Refusal('second_factor_required', 'Send the code of the app as `code`.')
    refuseProblems({ code: code.trim() === '' ? 'Enter the code of the app.' : undefined })
    if (await verifyCode(services, ctx, user, code)) return ['otp']
    throw new FieldRefusal('second_factor_wrong', [{ field: 'code', detail: wrongCode }])
  }
  const problem = await currentPasswordProblem(services, ctx, password)
  if (problem === undefined) return ['pwd']
  throw new FieldRefusal('wrong_credentials', [{ field: 'password', detail: problem }])
}

function completeConfirmation(ctx: SiteContext, user: User, methods: readonly string[]): void {
  replaceSession(ctx, user, methods)
  audit(ctx, 'confirmed', user)
  const path = requestedNext(ctx) ?? '/account'
  // The start page of a section shows a notice, because the user has to press the button on it again.
  const isStart = sectionOf(path)?.back === path.split('?', 1)[0]
  complete(ctx, path, isStart ? 'Thank you. You can continue now.' : undefined)
}

async function dataOf(services: Services, ctx: SiteContext) {
  const user = ctx.auth.require(User)
  const next = requestedNext(ctx)
  const em = entityManager(ctx)
  const hasApp = Boolean(user.secondFactorAt)
  // The provider is one factor, like the password, so it is not enough for an account with an app.
  const identities = hasApp ? [] : await listIdentities(em, user.id)
  return {
    next,
    // The path that "Cancel" links to, and what the user wants to do.
    ...(sectionOf(next ?? '') ?? { back: '/account', purpose: 'continue' }),
    hasApp,
    hasPassword: await hasPassword(em, user.id),
    // The ids of the providers whose accounts are connected.
    connected: identities.map(({ provider }) => provider),
    passkeyOptions: await confirmationOptions(services, ctx, user),
  }
}

function sectionOf(path: string) {
  return sections.find(({ back }) => path.startsWith(back))
}
