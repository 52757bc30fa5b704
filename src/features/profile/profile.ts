import { entityManager } from '#auth/mikro-orm'
import { owner, signedIn } from '../../account/owner.ts'
import { pendingAddress } from '../../account/pending-address.ts'
import type { Services } from '../../account/services.ts'
import { changeAccount } from '../../account/sessions/change-account.ts'
import { audit } from '../../site/audit.ts'
import { formAgain, refuseProblems, type ShowPage, textFields } from '../../site/form.ts'
import { page, seeOther, takeNotice, wantsPage } from '../../site/page.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import type { Views } from '../../site/view-data.ts'
import { nameProblem } from '../../users/person-name.ts'
import { isVerified, User, userRecord } from '../../users/user.ts'
import { firstSteps, takePasskeyOffer } from './first-steps.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    /** `typedName` is the rejected input of the name form. */
    profile: Awaited<ReturnType<typeof dataOf>> & { typedName?: string }
  }
}

/**
 * `GET /account`: the profile. `POST /account/name`: changes the name, by the rules of sign-up. Returns the function that shows the
 * profile again with the errors of a rejected form.
 */
export function profile(router: SiteRouter, services: Services): ShowPage {
  const showFormAgain: ShowPage = (ctx, errors) =>
    profilePage(services, ctx, { errors, typedName: textFields(ctx, 'name').name })

  router.get('/account', signedIn, (ctx) => profilePage(services, ctx, { notice: takeNotice(ctx) }))

  router.post('/account/name', ...owner(services), formAgain(showFormAgain), async (ctx) => {
    const user = ctx.auth.require(User)
    const name = textFields(ctx, 'name').name.trim()
    refuseProblems({ name: nameProblem(name) })
    const change = `“${user.name}” → “${name}”`
    await changeAccount(ctx, (em) => em.nativeUpdate(User, { id: user.id }, { name }))
    user.name = name
    audit(ctx, 'name changed', user, { detail: change })
    if (wantsPage(ctx)) seeOther(ctx, '/account', 'Your name has been changed.')
    else ctx.body = userRecord(user)
  })
  return (ctx, errors) => profilePage(services, ctx, { errors })
}

async function profilePage(
  services: Services,
  ctx: SiteContext,
  more: Pick<Views['profile'], 'errors' | 'notice' | 'typedName'>,
): Promise<void> {
  await page(ctx, 'profile', { ...(await dataOf(services, ctx)), ...more })
}

async function dataOf(services: Services, ctx: SiteContext) {
  const user = ctx.auth.require(User)
  const { name, email, createdAt, passwordChangedAt } = user
  const steps = await firstSteps(services, ctx)
  return {
    user: { name, email },
    isVerified: isVerified(user),
    createdAt,
    passwordChangedAt,
    // The new address that waits for its confirmation.
    pendingEmail: services.outbox && (await pendingAddress(entityManager(ctx), user)),
    steps,
    offersPasskey: !steps && (await takePasskeyOffer(services, ctx)),
  }
}
