import { entityManager } from '#auth/mikro-orm'
import { attemptedForm } from '../../account/attempted-form.ts'
import { asksToBeKept, completeSignIn, requestedNext, withNextPath } from '../../account/complete-sign-in.ts'
import type { PendingSignIn } from '../../account/second-factor/pending-sign-ins.ts'
import { countRecoveryCodes, isRecoveryCode } from '../../account/second-factor/recovery-codes.ts'
import { plainCode, verifyCode, wrongCode } from '../../account/second-factor/verify-code.ts'
import type { Services } from '../../account/services.ts'
import { FieldRefusal, Refusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { fieldsOf, formAgain, refuseProblems, textFields } from '../../site/form.ts'
import { page, seeOther, wantsPage } from '../../site/page.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import type { FormMessage } from '../../site/view-data.ts'
import type { User } from '../../users/user.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    'sign-in-code': { isRecovery: boolean; next?: string | undefined }
  }
}

const recoveryPath = '/login/recovery-code'

/** `/login/code`: the second step of a sign-in by form. */
export function signInCode(router: SiteRouter, services: Services): void {
  const { pendingSignIns } = services

  router.get(['/login/code', recoveryPath], async (ctx) =>
    (await pendingSignIns.find(ctx)) ? form(ctx) : startAgain(ctx),
  )

  router.post('/login/code', formAgain(form), async (ctx) => {
    if (!wantsPage(ctx)) throw new Refusal(415, 'This route accepts a form. Send JSON with `code` to /login.')
    const pending = await pendingSignIns.find(ctx)
    if (!pending) return startAgain(ctx)
    const { code } = textFields(ctx, 'code')
    const isRecovery = isForRecovery(ctx)
    const missing = isRecovery ? 'Enter a recovery code.' : 'Enter the code of the app.'
    refuseProblems({ code: code.trim() === '' ? missing : undefined })
    if (!(await verifyCode(services, ctx, pending.user, code))) {
      const detail = isRecovery ? 'This recovery code is wrong or was used before.' : wrongCode
      throw new FieldRefusal('second_factor_wrong', [{ field: 'code', detail }])
    }
    // Another request may have finished this sign-in with another code.
    if (!(await pendingSignIns.finish(ctx, pending))) return startAgain(ctx)
    const { user, kept: isKept, methods: first } = pending
    const methods = [...(first ?? 'pwd').split(' ').filter(Boolean), 'otp', 'mfa']
    const { next } = fieldsOf(ctx)
    const notice = isRecoveryCode(plainCode(code)) ? await codesLeft(ctx, user) : undefined
    await completeSignIn(services, ctx, user, { isKept, next, methods, notice })
  })
}

/** Continues a sign-in with the right password: asks a browser for the code, and verifies the code in the body of another client. */
export async function signInWithCode(
  services: Services,
  ctx: SiteContext,
  { user }: PendingSignIn,
): Promise<void> {
  const { code, next } = fieldsOf(ctx)
  if (code === undefined) {
    audit(ctx, 'code required', user, { detail: attemptedForm(ctx) })
    if (wantsPage(ctx)) return askForCode(services, ctx, user)
    const detail = 'Send the code of the authenticator app as `code`.'
    throw new Refusal('second_factor_required', detail)
  }
  if (typeof code !== 'string') {
    const detail = 'Send the code as a string, because it can start with 0.'
    throw new FieldRefusal('validation_failed', [{ field: 'code', detail }])
  }
  if (!(await verifyCode(services, ctx, user, code))) throw new Refusal('second_factor_wrong', wrongCode)
  const [isKept, methods] = [asksToBeKept(ctx), ['pwd', 'otp', 'mfa']]
  await completeSignIn(services, ctx, user, { isKept, next, methods })
}

async function askForCode({ pendingSignIns }: Services, ctx: SiteContext, user: User): Promise<void> {
  await pendingSignIns.start(ctx, user, { kept: asksToBeKept(ctx) })
  seeOther(ctx, withNextPath('/login/code', fieldsOf(ctx).next))
}

async function codesLeft(ctx: SiteContext, { id }: User): Promise<string> {
  const count = await countRecoveryCodes(entityManager(ctx), id)
  if (count === 0) return 'You have used your last recovery code. Create new ones on the security page.'
  return `You have used a recovery code. Codes left: ${count}. You can replace them on the security page.`
}

function form(ctx: SiteContext, errors: FormMessage[] = []): Promise<void> {
  return page(ctx, 'sign-in-code', { errors, isRecovery: isForRecovery(ctx), next: requestedNext(ctx) })
}

/** Whether the page or the form is for a recovery code. */
function isForRecovery(ctx: SiteContext): boolean {
  return ctx.path === recoveryPath || fieldsOf(ctx).recovery !== undefined
}

// `expired` only selects a fixed message, so a link on another site can do no harm.
function startAgain(ctx: SiteContext): void {
  seeOther(ctx, withNextPath('/login?expired', textFields(ctx, 'next').next))
}
