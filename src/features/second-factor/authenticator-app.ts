import { entityManager } from '#auth/mikro-orm'
import { fresh } from '../../account/fresh.ts'
import { limitedCode } from '../../account/limits.ts'
import { owner } from '../../account/owner.ts'
import { hasOneOf, inGroups } from '../../account/second-factor/recovery-codes.ts'
import { newRecoveryCodes, startSetUp, turnOff, turnOn } from '../../account/second-factor/second-factor.ts'
import { setUpLifetime, unconfirmedKey } from '../../account/second-factor/totp-factors.ts'
import { plainCode } from '../../account/second-factor/verify-code.ts'
import type { Services } from '../../account/services.ts'
import { digestOf } from '../../database/identifier.ts'
import { minute } from '../../durations.ts'
import { Refusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { formAgain, refuseProblems, textFields } from '../../site/form.ts'
import { HostCookie } from '../../site/host-cookie.ts'
import { complete, page, seeOther, takeNotice, wantsPage } from '../../site/page.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import type { FormMessage } from '../../site/view-data.ts'
import { User } from '../../users/user.ts'
import { showKey } from './show-key.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    'totp-start': object
    'recovery-codes': { codes: readonly string[] }
  }
}

const securityPage = '/account/security'
const setUpPage = '/account/security/totp'
const codesPage = '/account/security/recovery-codes'

/** `/account/security/…`: sets up and removes the authenticator app, and creates recovery codes. */
export function authenticatorApp(router: SiteRouter, services: Services): void {
  // Passes new codes to the page that shows them once, because the database must not contain them.
  const newCodes = new HostCookie('new-recovery-codes', { isTls: services.isTls, values: /^[\w.]{249}$/ })
  // Binds a set-up to the browser that started it. Without this, a thief with a session could start the set-up, and the page
  // would show the owner a key that the thief knows.
  const startedSetUp = new HostCookie('app-set-up', { isTls: services.isTls })

  // After a reload, the page shows the same key.
  router.get(setUpPage, ...owner(services), fresh(setUpPage), async (ctx) => {
    const key = await keyOfSetUp(ctx)
    if (key) return showKey(services, ctx, key)
    if (!wantsPage(ctx))
      throw new Refusal(404, 'This client has no unfinished set-up of an authenticator app.')
    return services.secretBox && !isOn(ctx) ? page(ctx, 'totp-start', {}) : seeOther(ctx, securityPage)
  })

  router.post(setUpPage, ...owner(services), fresh(setUpPage), async (ctx) => {
    if (wantsPage(ctx) && isOn(ctx)) return seeOther(ctx, securityPage)
    const key = await startSetUp(services, ctx)
    startedSetUp.write(ctx, digestOf(key), setUpLifetime)
    return wantsPage(ctx) ? seeOther(ctx, setUpPage) : showKey(services, ctx, key)
  })

  // A failed form leaves this address in the browser, where the user can open it again.
  router.get('/account/security/totp/confirm', ...owner(services), (ctx) => seeOther(ctx, setUpPage))

  const confirms = [...owner(services), fresh(setUpPage), formAgain(showSetUpAgain)] as const
  router.post('/account/security/totp/confirm', ...confirms, async (ctx) => {
    // The browser may have sent the form twice. The codes page then shows the codes of the first request.
    if (wantsPage(ctx) && isOn(ctx)) return seeOther(ctx, codesPage, 'The authenticator app is on.')
    const { code } = textFields(ctx, 'code')
    refuseProblems({ code: code.trim() === '' ? 'Enter the code of the app.' : undefined })
    const codes = await limitedCode(services, ctx, ctx.auth.require(User), () =>
      turnOn(services, ctx, plainCode(code)),
    )
    if (!codes)
      return refuseProblems({ code: 'The code is wrong. Enter the six digits that the app shows now.' })
    if (startedSetUp.read(ctx) !== undefined) startedSetUp.clear(ctx)
    audit(ctx, 'authenticator app turned on', ctx.auth.require(User))
    showCodes(ctx, codes, 'The authenticator app is on. Your other sessions have been signed out.')
  })

  router.post('/account/security/totp/remove', ...owner(services), fresh(securityPage), async (ctx) => {
    const user = ctx.auth.require(User)
    if (user.secondFactorAt) {
      await turnOff(services, ctx)
      audit(ctx, 'authenticator app turned off', user)
    }
    complete(ctx, securityPage, 'The authenticator app has been removed.')
  })

  router.get(codesPage, ...owner(services), async (ctx) => {
    const codes = newCodes.take(ctx)?.split('.')
    if (!wantsPage(ctx))
      throw new Refusal(404, 'Recovery codes are in the response of the request that creates them.')
    const isOwn = codes && (await hasOneOf(entityManager(ctx), ctx.auth.require(User).id, codes))
    if (!isOwn) return seeOther(ctx, securityPage)
    return page(ctx, 'recovery-codes', { codes: codes.map(inGroups), notice: takeNotice(ctx) })
  })

  router.post(codesPage, ...owner(services), fresh(securityPage), async (ctx) => {
    const codes = await newRecoveryCodes(services, ctx)
    audit(ctx, 'recovery codes created', ctx.auth.require(User))
    showCodes(ctx, codes, 'You have ten new recovery codes. The old ones no longer work.')
  })

  async function showSetUpAgain(ctx: SiteContext, errors: FormMessage[]): Promise<void> {
    const key = await keyOfSetUp(ctx)
    if (key) await showKey(services, ctx, key, errors)
    else seeOther(ctx, setUpPage)
  }

  /** The key of an unfinished set-up that this browser has started. */
  async function keyOfSetUp(ctx: SiteContext): Promise<Buffer | undefined> {
    if (!services.secretBox) return undefined
    const key = await unconfirmedKey(entityManager(ctx), services.secretBox, ctx.auth.require(User).id)
    return key && startedSetUp.read(ctx) === digestOf(key) ? key : undefined
  }

  function showCodes(ctx: SiteContext, codes: readonly string[], notice: string) {
    if (wantsPage(ctx)) {
      newCodes.write(ctx, codes.join('.'), minute)
      seeOther(ctx, codesPage, notice)
    } else {
      ctx.body = { recoveryCodes: codes.map(inGroups) }
    }
  }
}

function isOn(ctx: SiteContext): boolean {
  return Boolean(ctx.auth.require(User).secondFactorAt)
}
