import { owner } from '../../account/owner.ts'
import type { Services } from '../../account/services.ts'
import { refuseProblems, textFields } from '../../site/form.ts'
import { complete } from '../../site/page.ts'
import type { SiteRouter } from '../../site/site-context.ts'
import { themeCookie } from '../../site/theme-cookie.ts'

const year = 365 * 24 * 60 * 60_000

/** `POST /account/theme`: chooses the theme of the pages in this browser. The cookie exists only for a theme other than `system`. */
export function theme(router: SiteRouter, services: Services): void {
  const cookie = themeCookie(services.isTls)

  router.post('/account/theme', ...owner(services), async (ctx) => {
    const { theme: chosen } = textFields(ctx, 'theme')
    const isTheme = ['system', 'light', 'dark'].includes(chosen)
    refuseProblems({ theme: isTheme ? undefined : '`theme` must be `system`, `light` or `dark`.' })
    if (chosen === 'system') cookie.clear(ctx)
    else cookie.write(ctx, chosen, year)
    complete(ctx, '/account', 'The theme has been changed.')
  })
}
