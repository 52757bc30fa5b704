import { beginFlow } from '#auth/openid'
import { count } from '../../account/limits.ts'
import type { Services } from '../../account/services.ts'
import { Refusal, TryLater } from '../../refusal.ts'
import { page, wantsPage } from '../../site/page.ts'
import { databaseErrorOf } from '../../site/problem.ts'
import type { SiteContext } from '../../site/site-context.ts'
import type { SiteFlowData } from './provider-flows.ts'
import type { SiteProvider } from './site-providers.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    continue: {
      /** The URL at the provider. */
      url: string
      label: string
    }
  }
}

/**
 * Starts a flow, and shows a page that opens the provider. A redirect would fail, because browsers apply `form-action 'self'` to it.
 *
 * @throws {TryLater} 503 if the provider cannot be reached, 429 if the network has started too many flows
 */
export async function openProvider(
  services: Services,
  ctx: SiteContext,
  provider: SiteProvider,
  data: SiteFlowData,
): Promise<void> {
  if (!wantsPage(ctx)) throw new Refusal(415, 'This route accepts only a form of the site.')
  await count(services, ctx, 'provider')
  // A confirmation needs a new sign-in at the provider.
  const maxAge = data.purpose === 'confirm' ? 0 : undefined
  const url = await unlessUnreachable(ctx, provider, () => beginFlow(provider, ctx, { data, maxAge }))
  await page(ctx, 'continue', { url: url.href, label: provider.label })
}

/** Logs the error of a provider, and throws 503 instead. Errors of the database are thrown as they are. */
export async function unlessUnreachable<Result>(
  ctx: SiteContext,
  { label }: SiteProvider,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (databaseErrorOf(error)) throw error
    ctx.app.emit('error', error, ctx)
    throw new TryLater(503, `${label} cannot be reached at the moment. Try again in a minute.`, 60)
  }
}
