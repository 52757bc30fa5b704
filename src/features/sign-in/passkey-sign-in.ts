import { asksToBeKept, completeSignIn } from '../../account/complete-sign-in.ts'
import { checkPasskey, passkeyMethods, passkeyRefused } from '../../account/passkeys/check-passkey.ts'
import type { Services } from '../../account/services.ts'
import { FieldRefusal, Refusal } from '../../refusal.ts'
import { fieldsOf, formAgain, textFields } from '../../site/form.ts'
import { seeOther, wantsPage } from '../../site/page.ts'
import type { SiteRouter } from '../../site/site-context.ts'
import { onlyThisRequest, signInForm } from './sign-in.ts'

/** `POST /login/passkey`: signs in with a passkey instead of an address, a password and a code. */
export function passkeySignIn(router: SiteRouter, services: Services): void {
  // A failed sign-in leaves this URL in the browser, where the user can open it again.
  router.get('/login/passkey', (ctx) => seeOther(ctx, '/login'))

  const showFormAgain = formAgain((ctx, errors) => signInForm(services, ctx, errors))

  router.post('/login/passkey', onlyThisRequest, showFormAgain, async (ctx) => {
    if (!wantsPage(ctx)) throw new Refusal(415, 'This route accepts only the form of the sign-in page.')
    const { credential } = textFields(ctx, 'credential')
    const ceremony = { purpose: 'sign-in', binding: services.passkeys?.cookie.read(ctx) ?? '' } as const
    const passkey = await checkPasskey(services, ctx, { ceremony, credential })
    if (!passkey) throw new FieldRefusal('wrong_credentials', [{ field: 'passkey', detail: passkeyRefused }])
    return completeSignIn(services, ctx, passkey.user, {
      isKept: asksToBeKept(ctx),
      next: fieldsOf(ctx).next,
      methods: passkeyMethods,
      detail: `Passkey: ${passkey.name}`,
    })
  })
}
