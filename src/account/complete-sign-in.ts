import { audit } from '../site/audit.ts'
import { fieldsOf } from '../site/form.ts'
import { seeOther, wantsPage } from '../site/page.ts'
import { userRecord } from '../site/records.ts'
import type { SiteContext } from '../site/site-context.ts'
import { User } from '../users/user.ts'
import { afterSignIn } from './after-sign-in.ts'
import { storeDevice } from './devices/store-device.ts'
import { notify } from './notify.ts'
import type { Services } from './services.ts'
import { lifetime } from './sessions/session-limits.ts'

interface SignIn {
  /** "Keep me signed in on this device". */
  readonly isKept: boolean
  /** The requested path, which may be invalid. */
  readonly next: unknown
  /** How the user authenticated, as values of RFC 8176. */
  readonly methods: readonly string[]
  /** When the user authenticated, if that was earlier. */
  readonly at?: Date
  /** For the activity page. */
  readonly detail?: string
  /** A message for the next account page. */
  readonly notice?: string | undefined
}

/** Starts the session of a user and responds. Sign-ins by form, JSON, code and passkey call it. */
export async function completeSignIn(
  services: Services,
  ctx: SiteContext,
  user: User,
  { isKept, next, methods, at, detail, notice }: SignIn,
): Promise<void> {
  // The session middleware saves the session after the handler.
  ctx.auth.login(user, User, { methods, ...(at && { at }) })
  ctx.session.maxAge = lifetime(isKept)
  if (methods.join() === 'pwd' && wantsPage(ctx)) ctx.session.offersPasskey = true
  await storeDevice(services, ctx, user, (em) => notify(services, ctx, em, user, 'new device'))
  audit(ctx, 'signed in', user, { detail })
  if (wantsPage(ctx)) seeOther(ctx, afterSignIn(next), notice)
  else ctx.body = userRecord(user)
}

/** Whether the form or the JSON body asks for a long session: "Keep me signed in on this device". */
export function asksToBeKept(ctx: SiteContext): boolean {
  const { remember } = fieldsOf(ctx)
  return remember === 'on' || remember === true
}
