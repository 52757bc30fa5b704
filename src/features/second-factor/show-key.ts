import { base32 } from '../../account/second-factor/base32.ts'
import { totpUri } from '../../account/second-factor/totp.ts'
import type { Services } from '../../account/services.ts'
import { page, wantsPage } from '../../site/page.ts'
import type { SiteContext } from '../../site/site-context.ts'
import type { FormMessage } from '../../site/view-data.ts'
import { User } from '../../users/user.ts'
import { qrCode } from './qr-code.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    'totp-set-up': {
      /** The key in base32. */
      secret: string
      uri: string
      qr: ReturnType<typeof qrCode>
    }
  }
}

/** Shows the key of an unfinished set-up, as text and as a QR code. */
export async function showKey(
  services: Services,
  ctx: SiteContext,
  key: Buffer,
  errors: FormMessage[] = [],
): Promise<void> {
  const secret = base32(key)
  const uri = totpUri(key, { issuer: services.siteName, account: ctx.auth.require(User).email })
  if (wantsPage(ctx)) await page(ctx, 'totp-set-up', { secret, uri, qr: qrCode(uri), errors })
  else ctx.body = { secret, uri }
}
