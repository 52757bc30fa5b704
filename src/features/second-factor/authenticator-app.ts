import type Router from '@koa/router'
import { entityManager } from '#auth/mikro-orm'
import { audit } from '../../site/audit.ts'
import { formAgain, refuseProblems, textFields } from '../../site/form.ts'
import { page, seeOther, wantsPage } from '../../site/page.ts'
import type { SiteContext } from '../../site/site-context.ts'
import type { Complaint } from '../../site/views.ts'
import { User } from '../../users/user.ts'
import { fresh } from '../confirm/fresh.ts'
import { limitedCode } from '../sign-in/guessing.ts'
import { owner } from '../sign-in/owner.ts'
import { base32 } from './base32.ts'
import { qrCode } from './qr-code.ts'
import { newRecoveryCodes, startSetUp, turnOff, turnOn } from './second-factor.ts'
import { totpUri } from './totp.ts'
import { unconfirmedKey } from './totp-factors.ts'
import { secretBoxOf } from './verify-code.ts'

const securityPage = '/account/security'

/** `/account/security/…`: sets up and removes the authenticator app, and creates recovery codes. */
export function authenticatorApp(router: Router<object, SiteContext>): void {
  router.post('/account/security/totp', ...owner(), fresh(securityPage), async (ctx) => {
    const key = await startSetUp(ctx)
    if (wantsPage(ctx)) await setUpPage(ctx, key)
    else ctx.body = { secret: base32(key), uri: uriOf(ctx, key) }
  })

  router.post(
    '/account/security/totp/confirm',
    ...owner(),
    fresh(securityPage),
    formAgain(showSetUpAgain),
    async (ctx) => {
      const { code } = textFields(ctx, 'code')
      refuseProblems({ code: code.trim() === '' ? 'Enter the code of the app.' : undefined })
      const codes = await limitedCode(ctx, ctx.auth.require(User), () => turnOn(ctx, code))
      if (!codes) refuseProblems({ code: 'The code is wrong. Enter the one that the app shows now.' })
      audit(ctx, 'authenticator app turned on', ctx.auth.require(User))
      await showRecoveryCodes(ctx, codes ?? [], { isNew: true })
    },
  )

  router.post('/account/security/totp/remove', ...owner(), fresh(securityPage), async (ctx) => {
    const user = ctx.auth.require(User)
    if (user.secondFactorAt) {
      await turnOff(ctx)
      audit(ctx, 'authenticator app turned off', user)
    }
    if (wantsPage(ctx)) seeOther(ctx, securityPage, 'The authenticator app has been removed.')
    else ctx.status = 204
  })

  router.post('/account/security/recovery-codes', ...owner(), fresh(securityPage), async (ctx) => {
    const codes = await newRecoveryCodes(ctx)
    audit(ctx, 'recovery codes created', ctx.auth.require(User))
    await showRecoveryCodes(ctx, codes, { isNew: false })
  })
}

async function showSetUpAgain(ctx: SiteContext, errors: Complaint[]): Promise<void> {
  const key = await unconfirmedKey(entityManager(ctx), secretBoxOf(ctx), ctx.auth.require(User).id)
  if (!key) return seeOther(ctx, securityPage)
  await setUpPage(ctx, key, errors)
}

function setUpPage(ctx: SiteContext, key: Buffer, errors: Complaint[] = []): Promise<void> {
  const uri = uriOf(ctx, key)
  const secret = base32(key).replace(/.{4}(?=.)/g, '$& ')
  return page(ctx, 'totp-set-up', { secret, uri, qr: qrCode(uri), errors })
}

async function showRecoveryCodes(ctx: SiteContext, codes: string[], { isNew }: { isNew: boolean }) {
  if (wantsPage(ctx)) await page(ctx, 'recovery-codes', { codes, isNew })
  else ctx.body = { recoveryCodes: codes }
}

function uriOf(ctx: SiteContext, key: Buffer): string {
  return totpUri(key, { issuer: ctx.siteName, account: ctx.auth.require(User).email })
}
